#include "tools/symmetric/launch_end.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "core/base/whole_file.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr char kIdVariable[] = "FOREBAY_LAUNCH";
constexpr char kFileVariable[] = "FOREBAY_LAUNCH_END";
constexpr std::size_t kMostBytes = 4096;

}  // namespace

LaunchEnd::LaunchEnd(const LaunchedProcess& placement, const std::string& run_dir)
    : id_(placement.launcher + " " + placement.job + " " + placement.first_host) {
  std::error_code ignored;
  path_ = (fs::absolute(run_dir, ignored) / "launch-ended").string();
}

void LaunchEnd::hand_over() const {
  std::error_code ignored;
  fs::remove(path_, ignored);
  ::setenv(kIdVariable, id_.c_str(), 1);
  ::setenv(kFileVariable, path_.c_str(), 1);
}

std::optional<int> LaunchEnd::status(std::chrono::nanoseconds waited) const {
  if (waited < kSettled) return std::nullopt;
  const std::string written = read_whole(path_, kMostBytes).value_or("");
  const std::string id = id_ + "\n";
  std::string_view line = written;
  if (!line.starts_with(id)) return std::nullopt;
  line.remove_prefix(id.size());
  if (!line.ends_with('\n')) return std::nullopt;
  line.remove_suffix(1);
  const auto status = parse_count(line);
  return status && *status <= 255 ? std::optional(static_cast<int>(*status)) : std::nullopt;
}

LaunchEnd LaunchEnd::handed_over() {
  LaunchEnd end;
  const char* id = std::getenv(kIdVariable);
  const char* file = std::getenv(kFileVariable);
  if (id != nullptr && file != nullptr) {
    end.id_ = id;
    end.path_ = file;
  }
  ::unsetenv(kIdVariable);
  ::unsetenv(kFileVariable);
  return end;
}

// Without the file the others wait for a head until they give up.
void LaunchEnd::tell(int status) const {
  if (id_.empty()) return;
  static_cast<void>(replace_whole(path_, id_ + "\n" + std::to_string(status) + "\n", Sync::kNo));
}

}  // namespace forebay
