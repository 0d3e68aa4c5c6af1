#include "engine/run/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/bounded_file.h"
#include "core/base/open_files.h"

namespace forebay {
namespace {

/// Many times the size of any state.
constexpr std::size_t kMostBytes = 64 << 10;

Status problem(const std::string& path) {
  return fail(Code::kUnavailable, "--state " + path + ": " + system_words(errno));
}

}  // namespace

Result<LoaderState> read_state_file(const std::string& path) {
  const std::string where = "--resume " + path;
  auto text = read_bounded_file(path, kMostBytes);
  if (text) return parse_loader_state(*text, where);
  const std::string advice =
      text.error().code == Code::kCorrupt ? ", so it is no state that forebay wrote" : "";
  return fail(text.error().code, "--resume " + text.error().message + advice);
}

Status write_state_file(const std::string& path, const LoaderState& state) {
  const std::string text = to_json(state);
  const std::string aside = path + kStateAside;
  const int file = open_file(aside, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return problem(aside);
  const bool written =
      ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (written && ::rename(aside.c_str(), path.c_str()) == 0) return {};
  if (!written) errno = error;
  auto failed = problem(path);
  ::unlink(aside.c_str());
  return failed;
}

}  // namespace forebay
