#include "actors/python/function_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

/// How long a request to stop may go unnoticed.
constexpr std::chrono::milliseconds kLook{50};
/// Columns lie on cache lines of their own.
constexpr std::size_t kAlignment = 64;

std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Gives out the shared memory, column by column, and lists where each lies.
class ColumnPlaces {
 public:
  explicit ColumnPlaces(std::size_t rows) : rows_(rows) {}

  void add_dense() { add(rows_ * sizeof(float)); }
  void add_lists(std::size_t ids) {
    add(ids * sizeof(std::int64_t));
    numbers_.push_back(ids);
    add(rows_ * sizeof(std::int32_t));
  }
  std::size_t end() const { return end_; }
  const std::vector<std::uint64_t>& numbers() const { return numbers_; }

 private:
  void add(std::size_t bytes) {
    numbers_.push_back(end_);
    end_ += padded(bytes);
  }

  std::size_t rows_;
  std::size_t end_ = 0;
  std::vector<std::uint64_t> numbers_;
};

ColumnPlaces places_of(const PythonRows& rows, std::size_t new_dense, std::size_t new_sparse) {
  ColumnPlaces places(rows.rows);
  for (std::size_t i = 0; i < rows.dense.size(); ++i) places.add_dense();
  for (std::size_t i = 0; i < rows.sparse.size(); ++i) places.add_lists(rows.ids(i));
  for (std::size_t i = 0; i < new_dense; ++i) places.add_dense();
  for (std::size_t i = 0; i < new_sparse; ++i) places.add_lists(rows.most_ids);
  return places;
}

/// Copies the columns to their places; returns the first number of the new ones.
std::size_t copy_columns(const PythonRows& rows, const std::vector<std::uint64_t>& places,
                         std::byte* memory) {
  std::size_t next = 0;
  for (const float* values : rows.dense) {
    std::memcpy(memory + places[next++], values, rows.rows * sizeof(float));
  }
  for (std::size_t i = 0; i < rows.sparse.size(); ++i) {
    const PythonRows::Lists& lists = rows.sparse[i];
    const std::int32_t first = lists.offsets == nullptr ? 0 : lists.offsets[0];
    std::memcpy(memory + places[next], lists.values + first, rows.ids(i) * sizeof(std::int64_t));
    auto* lengths = reinterpret_cast<std::int32_t*>(memory + places[next + 2]);
    for (std::size_t row = 0; row < rows.rows; ++row) {
      lengths[row] = lists.offsets == nullptr ? 1 : lists.offsets[row + 1] - lists.offsets[row];
    }
    next += 3;
  }
  return next;
}

std::span<const char> bytes_of(const std::vector<std::uint64_t>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(std::uint64_t)};
}

std::string configuration(const PythonFunction& function) {
  return json_text(nlohmann::json{{"function", function.name},
                                  {"pickled", function.pickled},
                                  {"path", function.path},
                                  {"dense", function.dense},
                                  {"sparse", function.sparse},
                                  {"adds", function.new_dense},
                                  {"adds_sparse", function.new_sparse}});
}

}  // namespace

std::string interpreter_of(const PythonFunction& function) {
  if (!function.interpreter.empty()) return function.interpreter;
  const char* named = std::getenv("FOREBAY_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

std::size_t PythonRows::ids(std::size_t sparse_column) const {
  const Lists& lists = sparse[sparse_column];
  if (lists.offsets == nullptr) return rows;
  return static_cast<std::size_t>(lists.offsets[rows] - lists.offsets[0]);
}

std::size_t PythonRows::bytes(std::size_t dense_columns, std::size_t lists, std::size_t rows,
                              std::size_t ids) {
  const std::size_t columns = dense_columns + 2 * lists;
  return (dense_columns + lists) * rows * sizeof(float) + ids * sizeof(std::int64_t) +
         columns * kAlignment;
}

Result<FunctionProcess> FunctionProcess::start(const PythonFunction& function,
                                               const std::function<bool()>& cancelled) {
  auto memory = SharedMemory::create();
  if (!memory) return pass(memory);
  const std::string interpreter = interpreter_of(function);
  auto process = ChildProcess::start(
      interpreter, {"-m", "forebay._child", std::to_string(::getpid())}, memory->descriptor());
  if (!process) {
    if (process.error().code != Code::kNotFound) return pass(process);
    return fail(Code::kInvalid, process.error().message +
                                    "; install Python with the packages forebay and numpy, or name "
                                    "the interpreter that has them in FOREBAY_PYTHON");
  }
  FunctionProcess made(std::move(*process), std::move(*memory));
  made.new_dense_ = function.new_dense.size();
  made.new_sparse_ = function.new_sparse.size();
  ::sched_getaffinity(0, sizeof made.cpus_, &made.cpus_);
  if (auto status = made.import(function, cancelled); !status) return pass(status);
  return made;
}

Status FunctionProcess::import(const PythonFunction& function,
                               const std::function<bool()>& cancelled) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  const std::string text = configuration(function);
  const bool sent = send(ChildRequest::kConfigure, text);
  Heard heard;
  if (sent) heard = hear({}, cancelled, deadline);
  if (sent && heard.wait == Wait::kDone && heard.answer) {
    if (heard.answer->kind == AnswerKind::kReady) return {};
    return fail(Code::kInvalid, heard.answer->text);
  }
  if (heard.wait == Wait::kCancelled) return fail(Code::kUnavailable, "stopped");
  if (!heard.fault.empty()) return fail(Code::kInvalid, heard.fault);
  const std::string interpreter = interpreter_of(function);
  if (heard.wait == Wait::kTimeout) {
    process_.kill();
    return fail(Code::kInvalid, interpreter + " has not imported it within five minutes");
  }
  const std::string how = process_.ending();
  if (process_.was_killed()) {
    return fail(Code::kUnavailable, "its process " + std::to_string(process_.id()) + ' ' + how +
                                        " before it was ready");
  }
  const std::string said = printable(process_.said(), 300);
  return fail(Code::kInvalid, interpreter + " -m forebay._child " + how + ": " +
                                  (said.empty() ? "it said nothing" : said) +
                                  "; install the packages forebay and numpy for it, or name the "
                                  "interpreter that has them in FOREBAY_PYTHON");
}

bool FunctionProcess::send(ChildRequest kind, std::span<const char> payload) {
  if (payload.size() > std::numeric_limits<std::uint32_t>::max()) return false;
  const ChildHeader header{.kind = static_cast<std::uint32_t>(kind),
                           .bytes = static_cast<std::uint32_t>(payload.size()),
                           .number = ++number_};
  std::vector<char> message(sizeof header + payload.size());
  std::memcpy(message.data(), &header, sizeof header);
  std::ranges::copy(payload, message.begin() + sizeof header);
  std::span<const char> rest(message);
  while (!rest.empty()) {
    const ssize_t sent = ::send(process_.channel(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    rest = rest.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

FunctionProcess::Wait FunctionProcess::receive(
    std::span<char> to, const std::function<bool()>& cancelled,
    std::optional<std::chrono::steady_clock::time_point> deadline) {
  while (!to.empty()) {
    pollfd look{.fd = process_.channel(), .events = POLLIN, .revents = 0};
    const int found = ::poll(&look, 1, static_cast<int>(kLook.count()));
    if (found <= 0) {
      if (cancelled && cancelled()) return Wait::kCancelled;
      if (deadline && std::chrono::steady_clock::now() > *deadline) return Wait::kTimeout;
      continue;
    }
    const ssize_t size = ::recv(process_.channel(), to.data(), to.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size <= 0) return Wait::kClosed;
    to = to.subspan(static_cast<std::size_t>(size));
  }
  return Wait::kDone;
}

FunctionProcess::Heard FunctionProcess::hear(
    std::span<const std::uint64_t> most_ids, const std::function<bool()>& cancelled,
    std::optional<std::chrono::steady_clock::time_point> deadline) {
  ChildHeader header;
  Heard heard;
  heard.wait = receive({reinterpret_cast<char*>(&header), sizeof header}, cancelled, deadline);
  if (heard.wait != Wait::kDone) return heard;
  if (auto status = check_answer_header(header, number_); !status) {
    heard.fault = status.error().message;
    return heard;
  }
  std::vector<char> payload(header.bytes);
  heard.wait = receive(payload, cancelled, deadline);
  if (heard.wait != Wait::kDone) return heard;
  auto answer = read_answer(header, payload, most_ids);
  if (!answer) {
    heard.fault = answer.error().message;
  } else {
    heard.answer = std::move(*answer);
  }
  return heard;
}

// The limit of CPUs may change while the process runs.
void FunctionProcess::follow_affinity() {
  cpu_set_t now;
  CPU_ZERO(&now);
  if (::sched_getaffinity(0, sizeof now, &now) != 0 || CPU_EQUAL(&now, &cpus_) != 0) return;
  cpus_ = now;
  share_affinity_with(process_.id());
}

PythonOutcome FunctionProcess::died() {
  return {.kind = PythonOutcome::Kind::kDied,
          .text = "its process " + std::to_string(process_.id()) + ' ' + process_.ending()};
}

Result<PythonOutcome> FunctionProcess::call(const PythonRows& rows,
                                            const std::function<bool()>& cancelled) {
  using Kind = PythonOutcome::Kind;
  const ColumnPlaces places = places_of(rows, new_dense_, new_sparse_);
  if (auto status = memory_.reserve(std::max<std::size_t>(places.end(), 1)); !status) {
    return pass(status);
  }
  std::byte* const memory = memory_.bytes().data();
  const std::vector<std::uint64_t>& numbers = places.numbers();
  std::size_t next = copy_columns(rows, numbers, memory);
  follow_affinity();
  std::vector<std::uint64_t> request{rows.rows, memory_.bytes().size()};
  request.insert(request.end(), numbers.begin(), numbers.end());
  if (!send(ChildRequest::kCall, bytes_of(request))) return died();
  const std::vector<std::uint64_t> most_ids(new_sparse_, rows.most_ids);
  Heard heard = hear(most_ids, cancelled, std::nullopt);
  if (heard.wait == Wait::kCancelled) {
    process_.kill();
    return PythonOutcome{.kind = Kind::kCancelled, .text = "stopped"};
  }
  if (heard.wait != Wait::kDone) return died();
  if (!heard.answer) {
    process_.kill();
    return PythonOutcome{.kind = Kind::kRefused, .text = heard.fault};
  }
  if (heard.answer->kind != AnswerKind::kDone) {
    const bool raised = heard.answer->kind == AnswerKind::kRaised;
    return PythonOutcome{.kind = raised ? Kind::kRaised : Kind::kRefused,
                         .text = heard.answer->text};
  }
  PythonOutcome outcome;
  for (std::size_t i = 0; i < new_dense_; ++i) {
    outcome.result.dense.push_back(reinterpret_cast<const float*>(memory + numbers[next++]));
  }
  for (std::size_t i = 0; i < new_sparse_; ++i, next += 3) {
    outcome.result.sparse.push_back(
        {reinterpret_cast<const std::int64_t*>(memory + numbers[next]),
         reinterpret_cast<const std::int32_t*>(memory + numbers[next + 2]), heard.answer->ids[i]});
  }
  return outcome;
}

}  // namespace forebay
