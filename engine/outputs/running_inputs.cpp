#include "engine/outputs/running_inputs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "forebay-inputs";

/// The link that /proc shows for a memory file of that name.
const std::string& link_text() {
  static const std::string text = std::string("/memfd:") + kName + " (deleted)";
  return text;
}

/// The file is not executable: some systems require this flag, and Linux before 6.3 does not know
/// it.
Descriptor make_memory_file() {
  constexpr unsigned kNotExecutable = 8;  // MFD_NOEXEC_SEAL
  Descriptor file(::memfd_create(kName, MFD_CLOEXEC | kNotExecutable));
  if (!file && errno == EINVAL) file = Descriptor(::memfd_create(kName, MFD_CLOEXEC));
  return file;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::optional<std::string> read_all(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return std::nullopt;
  std::string bytes;
  constexpr std::size_t kPiece = std::size_t{64} << 10;
  while (bytes.size() < kMostInputBytes) {
    const std::size_t had = bytes.size();
    bytes.resize(had + kPiece);
    const ssize_t got = ::pread(file.number(), bytes.data() + had, kPiece, static_cast<off_t>(had));
    bytes.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
  }
  return bytes;
}

std::optional<pid_t> process_of(const std::string& name) {
  pid_t process = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), process);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  return process;
}

/// Inputs published by another user are ignored: they could block root's commands from writing any
/// file.
bool is_of_this_user(const fs::path& folder) {
  struct stat about = {};
  return ::stat(folder.c_str(), &about) == 0 && about.st_uid == ::geteuid();
}

/// Adds the inputs that the process at `folder` (/proc/PID) publishes.
void look_into(const fs::path& folder, pid_t process, std::vector<RunningInputs>& found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder / "fd", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(entry->path(), gone).native() != link_text()) continue;
    const auto bytes = read_all(entry->path().string());
    auto inputs = bytes ? parse_inputs(*bytes) : Result<Inputs>(Inputs());
    if (inputs) found.push_back({process, std::move(*inputs)});
  }
}

}  // namespace

PublishedInputs PublishedInputs::publish(const Inputs& inputs, const Say& say) {
  Descriptor file = make_memory_file();
  if (file && write_all(file.number(), to_bytes(inputs))) return PublishedInputs(std::move(file));
  if (say)
    say("other commands cannot see what this one reads: memfd_create: " +
        std::string(std::strerror(errno)));
  return PublishedInputs(Descriptor());
}

std::vector<RunningInputs> inputs_of_other_processes() {
  std::vector<RunningInputs> found;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const auto process = process_of(entry->path().filename().string());
    if (process && *process != ::getpid() && is_of_this_user(entry->path()))
      look_into(entry->path(), *process, found);
  }
  return found;
}

}  // namespace forebay
