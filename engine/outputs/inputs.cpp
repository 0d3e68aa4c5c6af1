#include "engine/outputs/inputs.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "core/base/all_bytes.h"
#include "core/base/text/number.h"
#include "trainer/saving/checkpoint_names.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFilesBelow = 100'000;
constexpr const char* kName = "forebay-inputs";

std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  return error ? path : whole.string();
}

/// Removes a number and the blank after it from the start of `record`.
std::optional<std::uint64_t> take_field(std::string_view& record) {
  const auto number = take_number(record);
  if (!number || !record.starts_with(' ')) return std::nullopt;
  record.remove_prefix(1);
  return number;
}

std::optional<InputEntry> parse_file(std::string_view record) {
  const auto device = take_field(record);
  if (!device) return std::nullopt;
  const auto inode = take_field(record);
  if (!inode) return std::nullopt;
  const std::size_t tab = record.find('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  return InputEntry{
      {*device, *inode}, std::string(record.substr(0, tab)), std::string(record.substr(tab + 1))};
}

bool parse_record(std::string_view record, Inputs& into) {
  if (record.size() < 2) return false;
  const char kind = record.front();
  record.remove_prefix(1);
  if (kind == 'd') {
    into.folders.emplace_back(record);
  } else if (kind == 'c') {
    into.checkpoints.emplace_back(record);
  } else if (auto file = kind == 'f' ? parse_file(record) : std::nullopt) {
    into.files.push_back(std::move(*file));
  } else {
    return false;
  }
  return true;
}

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

void Inputs::add_file(const std::string& role, const std::string& path) {
  if (path.empty()) return;
  const auto file = regular_file_at(path);
  if (file) files.push_back({*file, role, absolute(path)});
}

void Inputs::add_files_below(const std::string& role, const std::string& folder) {
  if (folder.empty()) return;
  std::error_code error;
  std::size_t count = 0;
  for (fs::recursive_directory_iterator entry(folder, error), end;
       !error && entry != end && ++count <= kMostFilesBelow; entry.increment(error)) {
    add_file(role, entry->path().string());
  }
}

void Inputs::add_folder(const std::string& role, const std::string& folder) {
  folders.push_back(absolute(folder));
  add_files_below(role, folder);
}

Inputs with_checkpoint_files(Inputs inputs) {
  for (const std::string& directory : inputs.checkpoints) {
    for (const std::string& name : checkpoint_names(directory)) {
      inputs.add_files_below("a checkpoint", (fs::path(directory) / name).string());
    }
  }
  return inputs;
}

std::string to_bytes(const Inputs& inputs) {
  std::string bytes;
  for (const InputEntry& entry : inputs.files) {
    bytes += 'f' + std::to_string(entry.file.device) + ' ' + std::to_string(entry.file.inode) +
             ' ' + entry.role + '\t' + entry.path + '\0';
  }
  for (const std::string& folder : inputs.folders) bytes += 'd' + folder + '\0';
  for (const std::string& directory : inputs.checkpoints) bytes += 'c' + directory + '\0';
  return bytes;
}

Result<Inputs> parse_inputs(std::string_view bytes) {
  Inputs inputs;
  while (true) {
    const std::size_t end = bytes.find('\0');
    if (end == std::string_view::npos) return inputs;
    if (!parse_record(bytes.substr(0, end), inputs)) {
      return fail(Code::kCorrupt, "is no list of a run's inputs");
    }
    bytes.remove_prefix(end + 1);
  }
}

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
    const auto process = parse_number<pid_t>(entry->path().filename().string());
    if (process && *process != ::getpid() && is_of_this_user(entry->path()))
      look_into(entry->path(), *process, found);
  }
  return found;
}

}  // namespace forebay
