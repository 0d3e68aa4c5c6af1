#include "actors/input/file_system.h"

namespace forebay {

Status InputFile::read(std::uint64_t offset, std::span<char> out) const {
  auto got = read_at(offset, out);
  if (!got) return pass(got);
  if (*got < out.size()) return changed_since_indexed(path());
  return {};
}

std::size_t InputFile::read_ready(std::uint64_t offset, std::span<char> out) const {
  static_cast<void>(offset);
  static_cast<void>(out);
  return 0;
}

void InputFile::will_read(std::uint64_t offset, std::uint64_t bytes) const {
  static_cast<void>(offset);
  static_cast<void>(bytes);
}

std::vector<std::string> FileSystem::local_paths(const std::string& pattern) const {
  static_cast<void>(pattern);
  return {};
}

tl::unexpected<Error> changed_since_indexed(const std::string& path) {
  return fail(Code::kCorrupt, path + " changed since it was indexed; run again");
}

}  // namespace forebay
