#include "trainer/log/run_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include "core/base/all_bytes.h"
#include "core/base/crc32c.h"
#include "core/base/text/number.h"
#include "core/base/varint.h"

namespace forebay {
namespace {

/// The figures of a line with their tags, in the order of the table's columns.
struct Figure {
  std::string_view tag;
  std::optional<double> LogLine::*value;
};
constexpr Figure kFigures[] = {{"train/loss", &LogLine::loss},
                               {"train/learning_rate", &LogLine::learning_rate},
                               {"train/rows_per_second", &LogLine::rows_per_second},
                               {"train/starved_ratio", &LogLine::starved_ratio},
                               {"eval/auc", &LogLine::auc},
                               {"eval/log_loss", &LogLine::log_loss},
                               {"eval/normalized_entropy", &LogLine::normalized_entropy},
                               {"eval/calibration", &LogLine::calibration}};

/// Writes a record behind the end of `file`, which is open at `path`, whole and at once.
Status append_record(const std::string& path, const Descriptor& file, std::string_view record) {
  const ssize_t written = ::write(file.number(), record.data(), record.size());
  if (written == static_cast<ssize_t>(record.size())) return {};
  return fail(Code::kUnavailable, path + ": cannot be written: " +
                                      (written < 0 ? std::strerror(errno) : "the disk is full"));
}

/// A million lines take less; a larger file was not written here.
constexpr off_t kMostBytes = off_t{1} << 30;

tl::unexpected<Error> refused(const std::string& path, const std::string& what) {
  return fail(Code::kInvalid, path + ": " + what + "; set trainer.csv to another file");
}

Result<std::string> read_all(const std::string& path, int descriptor) {
  struct stat about = {};
  if (::fstat(descriptor, &about) != 0) return refused(path, std::strerror(errno));
  if (!S_ISREG(about.st_mode)) return refused(path, "is no file");
  if (about.st_size > kMostBytes) return refused(path, "is too large to be a run's table");
  std::string text(static_cast<std::size_t>(about.st_size), '\0');
  const ssize_t got = read_all_at(descriptor, std::as_writable_bytes(std::span(text)), 0);
  if (got != about.st_size) return refused(path, "cannot be read");
  return text;
}

Descriptor open_table(const std::string& path, int how) {
  return Descriptor(::open(path.c_str(), how | O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
}

void put(std::string& text, const std::optional<double>& number) {
  text += ',';
  if (!number) return;
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *number);
  text.append(digits.data(), end.ptr);
}

/// Whether a line has no loss, so that it is not a step's line.
bool is_evaluation(std::string_view line) {
  constexpr int kBeforeLoss = 3;
  std::size_t field = 0;
  for (int i = 0; i < kBeforeLoss; ++i) {
    const std::size_t comma = line.find(',', field);
    if (comma == std::string_view::npos) return false;
    field = comma + 1;
  }
  return line.substr(field).starts_with(',');
}

// Protobuf's wire types.
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kEightBytes = 1;
constexpr std::uint32_t kBytes = 2;
constexpr std::uint32_t kFourBytes = 5;

// Numbers of the used fields.
constexpr std::uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr std::uint32_t kSummaryValue = 1;                      // of Summary
constexpr std::uint32_t kValueTag = 1, kSimpleValue = 2;        // of Summary.Value
constexpr std::uint32_t kSessionStatus = 1, kSessionStart = 1;  // of SessionLog, and its START

template <class Number>
void put_fixed(std::string& out, Number number) {
  for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
    out.push_back(static_cast<char>(number >> (8 * byte) & 0xff));
  }
}

void put_key(std::string& out, std::uint32_t field, std::uint32_t type) {
  append_varint(field << 3 | type, out);
}

void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_key(out, field, kBytes);
  append_varint(bytes.size(), out);
  out.append(bytes);
}

std::string event_at(double wall, std::uint64_t step) {
  std::string event;
  put_key(event, kWallTime, kEightBytes);
  put_fixed(event, std::bit_cast<std::uint64_t>(wall));
  if (step > 0) {
    put_key(event, kStep, kVarint);
    append_varint(step, event);
  }
  return event;
}

/// The masked checksum of TFRecord: a CRC of bytes that contain CRCs would be weak.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8U;
}

namespace fs = std::filesystem;

constexpr int kMostOfASecond = 1000;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

tl::unexpected<Error> not_writable(const std::string& path, int error) {
  return fail(Code::kInvalid, path + ": events cannot be written: " + std::strerror(error) +
                                  "; set trainer.tensorboard to another directory");
}

}  // namespace

std::size_t kept_bytes(std::string_view table, std::uint64_t step, bool evaluated) {
  std::size_t kept = table.find('\n') + 1;
  while (kept < table.size()) {
    const std::size_t end = table.find('\n', kept);
    if (end == std::string_view::npos) return kept;
    const std::string_view line = table.substr(kept, end - kept);
    std::string_view rest = line;
    const auto of = take_number(rest);
    if (!of || !rest.starts_with(',') || *of > step) return kept;
    const bool again = *of == step && !evaluated;
    if (again && is_evaluation(line)) return kept;
    kept = end + 1;
  }
  return kept;
}

Result<CsvFile> CsvFile::begin(const std::string& path) {
  Descriptor file = open_table(path, O_TRUNC);
  if (!file) return refused(path, std::string("cannot be made: ") + std::strerror(errno));
  if (auto written = append_record(path, file, kHeader); !written) return pass(written);
  return CsvFile(path, std::move(file));
}

Result<CsvFile> CsvFile::resume(const std::string& path, std::uint64_t step, bool evaluated) {
  Descriptor file = open_table(path, 0);
  if (!file) return refused(path, std::string("cannot be opened: ") + std::strerror(errno));
  auto table = read_all(path, file.number());
  if (!table) return pass(table);
  if (table->empty()) return begin(path);
  if (!table->starts_with(kHeader)) return refused(path, "has other columns than a run's table");
  if (::ftruncate(file.number(), static_cast<off_t>(kept_bytes(*table, step, evaluated))) != 0) {
    return refused(path, std::string("cannot be cut: ") + std::strerror(errno));
  }
  return CsvFile(path, std::move(file));
}

Status CsvFile::write(const LogLine& line) {
  std::string text = std::to_string(line.step) + ',' + std::to_string(line.epoch) + ',' +
                     std::to_string(line.rows);
  for (const Figure& figure : kFigures) put(text, line.*figure.value);
  return append_record(path_, file_, text + '\n');
}

std::string framed(std::string_view content) {
  std::string record;
  record.reserve(content.size() + 16);
  put_fixed(record, static_cast<std::uint64_t>(content.size()));
  put_fixed(record, masked_crc(record));
  record.append(content);
  put_fixed(record, masked_crc(content));
  return record;
}

std::string version_record(double wall) {
  std::string event = event_at(wall, 0);
  put_bytes(event, kFileVersion, "brain.Event:2");
  return framed(event);
}

std::string start_record(double wall, std::uint64_t step) {
  std::string log;
  put_key(log, kSessionStatus, kVarint);
  append_varint(kSessionStart, log);
  // TensorBoard purges this step and later ones.
  std::string event = event_at(wall, step + 1);
  put_bytes(event, kSessionLog, log);
  return framed(event);
}

std::string scalars_record(double wall, std::uint64_t step, std::span<const Scalar> scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    std::string value;
    put_bytes(value, kValueTag, scalar.tag);
    put_key(value, kSimpleValue, kFourBytes);
    put_fixed(value, std::bit_cast<std::uint32_t>(scalar.value));
    put_bytes(summary, kSummaryValue, value);
  }
  std::string event = event_at(wall, step);
  put_bytes(event, kSummary, summary);
  return framed(event);
}

Result<EventFile> EventFile::create(const std::string& directory, std::uint64_t step,
                                    WallClock wall_clock) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return not_writable(directory, error.value());
  std::array<char, 64> begin{};
  std::snprintf(begin.data(), begin.size(), "events.out.tfevents.%010lld.",
                static_cast<long long>(wall_clock()));
  const std::string stem = (fs::path(directory) / begin.data()).string() + host_name() + ".";
  for (int number = 0; number < kMostOfASecond; ++number) {
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "%03d", number);
    const std::string path = stem + digits.data();
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
    if (!file && errno == EEXIST) continue;
    if (!file) return not_writable(directory, errno);
    const double now = wall_clock();
    auto written = append_record(path, file, version_record(now));
    if (written) written = append_record(path, file, start_record(now, step));
    if (!written) return pass(written);
    return EventFile(path, std::move(file), std::move(wall_clock));
  }
  return not_writable(directory, EEXIST);
}

Status EventFile::write(const LogLine& line) {
  std::vector<Scalar> scalars;
  for (const auto& [tag, value] : kFigures) {
    if (line.*value) scalars.push_back({tag, static_cast<float>(*(line.*value))});
  }
  return append_record(path_, file_, scalars_record(wall_clock_(), line.step, scalars));
}

}  // namespace forebay
