#include "engine/outputs/inputs.h"

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "trainer/saving/checkpoint_names.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFilesBelow = 100'000;

std::string absolute(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  return error ? path : whole.string();
}

/// Removes a number and the blank after it from the start of `record`.
std::optional<std::uint64_t> take_number(std::string_view& record) {
  std::uint64_t number = 0;
  const char* const end = record.data() + record.size();
  const auto parsed = std::from_chars(record.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != ' ') return std::nullopt;
  record.remove_prefix(static_cast<std::size_t>(parsed.ptr - record.data()) + 1);
  return number;
}

std::optional<InputEntry> parse_file(std::string_view record) {
  const auto device = take_number(record);
  if (!device) return std::nullopt;
  const auto inode = take_number(record);
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

}  // namespace forebay
