#include "core/net/zmq/zap_authenticator.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/net/curve_keys.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

/// Two writes further apart than this have different file times on every file system.
constexpr std::chrono::seconds kSettled{2};

/// A file that is being copied may hold no key for a moment; it is reported only after this time.
constexpr std::chrono::seconds kUnderWay{1};

/// The maximum number of problems reported in full by one scan.
constexpr std::size_t kNamedAtOnce = 4;

bool is_of_the_moment(const std::error_code& error) {
  return error == std::errc::too_many_files_open ||
         error == std::errc::too_many_files_open_in_system ||
         error == std::errc::not_enough_memory || error == std::errc::interrupted;
}

/// Route, delimiter, version, request, domain, address, identity, mechanism, one key.
constexpr std::size_t kRequestParts = 9;
constexpr std::size_t kKeyBytes = 32;

std::string z85_of(const zmq::message_t& key) {
  std::array<char, 41> letters{};
  zmq_z85_encode(letters.data(), static_cast<const std::uint8_t*>(key.data()), key.size());
  return letters.data();
}

void answer(zmq::socket_t& socket, Parts& request, bool let_in, const std::string& user) {
  const std::array<std::string, 6> rest = {
      "1.0", request[3].to_string(), let_in ? "200" : "400", let_in ? "OK" : "no such key", user,
      ""};
  const auto put = [&](zmq::message_t part, int flags) {
    static_cast<void>(zmq_msg_send(part.handle(), socket.handle(), flags | ZMQ_DONTWAIT));
  };
  put(std::move(request[0]), ZMQ_SNDMORE);
  put(zmq::message_t(), ZMQ_SNDMORE);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    put(zmq::message_t(rest[i]), i + 1 < rest.size() ? ZMQ_SNDMORE : 0);
  }
}

}  // namespace

KeyFolder::Stamp KeyFolder::stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  const auto& [written, changed] = std::tie(info.st_mtim, info.st_ctim);
  return {info.st_dev,     info.st_ino,    info.st_size,   written.tv_sec,
          written.tv_nsec, changed.tv_sec, changed.tv_nsec};
}

bool KeyFolder::has(const std::string& key, Time now) {
  if (key.empty()) return false;
  if (now >= next_look_ || stamp_of(folder_) != folder_stamp_) look_now(now);
  return std::ranges::any_of(files_, [&](auto& entry) {
    auto& [path, file] = entry;
    if (file.key != key) return false;
    refresh(path, file, now);  // The file may have been removed or written since the last scan.
    return file.key == key;
  });
}

bool KeyFolder::look(Time now) {
  if (now < next_look_) return false;
  look_now(now);
  return true;
}

void KeyFolder::look_now(Time now) {
  next_look_ = now + kPeriod;
  // Read before the files are listed, so that the next scan finds files added meanwhile.
  folder_stamp_ = stamp_of(folder_);
  std::vector<std::string> paths;
  if (!list(paths)) return;
  for (auto& [path, file] : files_) file.listed = false;
  for (const std::string& path : paths) {
    const auto [found, fresh] = files_.try_emplace(path);
    if (fresh) found->second.since = now;
    found->second.listed = true;
    refresh(path, found->second, now);
  }
  std::erase_if(files_, [](const auto& entry) { return !entry.second.listed; });
  name_problems(now);
}

/// Lists the folder's key files. False if a temporary error prevents that; the known keys stay
/// then.
bool KeyFolder::list(std::vector<std::string>& paths) {
  std::error_code error;
  std::size_t left_out = 0;
  fs::directory_iterator entry(folder_, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() != ".key") continue;
    if (paths.size() < kMostFiles) {
      paths.push_back(entry->path().string());
    } else {
      ++left_out;
    }
  }
  if (is_of_the_moment(error)) return false;
  std::string problem;
  if (error) {
    paths.clear();
    problem = "key folder " + folder_ + ": cannot be read: " + error.message() +
              "; no node can join until it can";
  } else if (left_out > 0) {
    problem = "key folder " + folder_ + ": has more than " + std::to_string(kMostFiles) +
              " key files; the others do not count, remove some";
  }
  if (problem != folder_problem_ && !problem.empty() && say_) say_(problem);
  folder_problem_ = std::move(problem);
  return true;
}

void KeyFolder::refresh(const std::string& path, File& file, Time now) {
  const Stamp stamp = stamp_of(path);
  if (stamp != file.stamp) file = {.stamp = stamp, .since = now, .listed = file.listed};
  if (file.read >= file.since + kSettled) return;
  auto key = read_key(path);
  if (!key && key.error().code == Code::kUnavailable) return;
  file.read = now;
  file.key = key ? std::move(*key) : "";
  std::string problem = key ? "" : std::move(key.error().message);
  if (problem.empty()) file.named = false;
  file.problem = std::move(problem);
}

void KeyFolder::name_problems(Time now) {
  std::size_t number = 0;
  for (auto& [path, file] : files_) {
    if (file.problem.empty() || file.named || now - file.since < kUnderWay) continue;
    file.named = true;
    if (++number <= kNamedAtOnce && say_) {
      say_(file.problem + "; it is skipped, the other keys count: replace or remove the file");
    }
  }
  if (number > kNamedAtOnce && say_) {
    say_("key folder " + folder_ + ": " + std::to_string(number - kNamedAtOnce) +
         " other *.key files hold no key, either");
  }
}

ZapAuthenticator::ZapAuthenticator(zmq::context_t& context, std::string folder, KeyFolder::Say say)
    : socket_(context, zmq::socket_type::router), keys_(std::move(folder), std::move(say)) {
  socket_.socket.set(zmq::sockopt::linger, 0);
  socket_.socket.bind(kEndpoint);
}

void ZapAuthenticator::serve(KeyFolder::Time now) {
  Parts request;
  while (receive(socket_, kRequestParts, request) == ReceiveResult::kMessage) {
    if (request.size() < 4) continue;
    std::string key;
    const bool whole = request.size() == kRequestParts && request[7].to_string_view() == "CURVE" &&
                       request[8].size() == kKeyBytes;
    if (whole) key = z85_of(request[8]);
    const bool let_in = whole && keys_.has(key, now);
    if (!let_in) ++refused_;
    answer(socket_.socket, request, let_in, let_in ? key : "");
  }
}

}  // namespace forebay
