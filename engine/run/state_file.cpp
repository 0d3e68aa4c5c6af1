#include "engine/run/state_file.h"

#include "core/base/whole_file.h"

namespace forebay {
namespace {

/// Many times the size of any state.
constexpr std::size_t kMostStateBytes = 64 << 10;

}  // namespace

Result<LoaderState> read_state_file(const std::string& path) {
  const std::string where = "--resume " + path;
  auto text = read_whole(path, kMostStateBytes);
  if (text) return parse_loader_state(*text, where);
  return fail(text.error().code, "--resume " + text.error().message);
}

Status write_state_file(const std::string& path, const LoaderState& state) {
  auto written = replace_whole(path, to_json(state), Sync::kYes);
  if (!written) return fail(written.error().code, "--state " + written.error().message);
  return {};
}

}  // namespace forebay
