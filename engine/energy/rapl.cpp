#include "engine/energy/rapl.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/text/number.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4096;
constexpr std::string_view kTop = "intel-rapl:";  // AMD's sockets have the name, too

std::string line_of(const fs::path& path) {
  std::string text = read_whole(path.string(), kMostBytes).value_or("");
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

Result<std::uint64_t> number_of(const std::string& path) {
  auto text = read_whole(path, kMostBytes);
  if (!text) return pass(text);
  if (const auto number = leading_number(*text)) return *number;
  return fail(Code::kCorrupt, path + ": holds no number");
}

/// Returns the folders in `folder` whose name begins with `prefix`, by name.
std::vector<fs::path> folders_in(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

Result<RaplZone> zone_in(const fs::path& folder, std::string name) {
  auto range = number_of((folder / "max_energy_range_uj").string());
  if (!range) return pass(range);
  return RaplZone{std::move(name), (folder / "energy_uj").string(), *range};
}

}  // namespace

// In the flat tree of /sys/class/powercap, a zone's children stand beside it (`intel-rapl:0:1`) and
// inside of it; only the latter are read.
Result<std::vector<RaplZone>> rapl_zones(const std::string& root) {
  std::vector<RaplZone> zones;
  std::set<std::string> packages;
  for (const fs::path& folder : folders_in(root, std::string(kTop))) {
    const std::string number = folder.filename().string().substr(kTop.size());
    std::string name = line_of(folder / "name");
    if (number.find(':') != std::string::npos || !name.starts_with("package-")) continue;
    if (!packages.insert(name).second) continue;
    auto package = zone_in(folder, name);
    if (!package) return pass(package);
    zones.push_back(std::move(*package));
    for (const fs::path& child : folders_in(folder, folder.filename().string() + ":")) {
      if (line_of(child / "name") != "dram") continue;
      auto memory = zone_in(child, "dram");
      if (!memory) return pass(memory);
      zones.push_back(std::move(*memory));
    }
  }
  if (zones.empty()) return fail(Code::kNotFound, root + ": has no energy counter");
  return zones;
}

std::uint64_t microjoules_between(std::uint64_t before, std::uint64_t now, std::uint64_t range) {
  return now >= before ? now - before : now + (range - before);
}

Result<RaplCounters> RaplCounters::open(const std::string& root) {
  auto zones = rapl_zones(root);
  if (!zones) return pass(zones);
  RaplCounters counters;
  for (RaplZone& zone : *zones) {
    auto first = number_of(zone.path);
    if (!first) return pass(first);
    counters.counters_.push_back({std::move(zone), *first});
  }
  return counters;
}

Status RaplCounters::look() {
  if (!failed_) return failed_;
  for (Counter& counter : counters_) {
    auto now = number_of(counter.zone.path);
    if (!now) return failed_ = pass(now);
    microjoules_ += microjoules_between(counter.last, *now, counter.zone.range);
    counter.last = *now;
  }
  return {};
}

}  // namespace forebay
