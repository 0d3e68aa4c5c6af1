#include "engine/modelled/best_file.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/random.h"
#include "core/base/text/hex.h"
#include "core/base/text/json_fields.h"
#include "core/base/text/json_text.h"
#include "core/base/whole_file.h"
#include "engine/modelled/pipeline_file.h"
#include "tuner/world/world_layout.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 16U << 20;
constexpr std::size_t kMostKept = 4096;
// Counts the ways in which results of find_best() changed: older ones are searched anew.
constexpr std::uint64_t kVersion = 2;

struct Kept {
  std::string digest;
  double splits_per_second = 0;
  std::uint32_t prefetch = 1;
  std::vector<std::uint32_t> actors;
};

void list(auto& fields, Kept& kept) {
  fields("digest", kept.digest);
  fields("splits_per_second", kept.splits_per_second);
  fields("prefetch", kept.prefetch);
  fields("actors", kept.actors);
}

struct AllKept {
  std::uint64_t version = kVersion;
  std::vector<Kept> best;
};

void list(auto& fields, AllKept& kept) {
  fields("version", kept.version);
  fields("best", kept.best);
}

/// Whether an entry can be what a search of this world finds: someone may have changed the file.
bool is_of(const tuner::BestKnown& kept, const tuner::PipelineModel& steady) {
  const tuner::PipelineDescription whole = tuner::world_description(steady);
  return kept.allocation.actors.size() == whole.stages.size() &&
         std::isfinite(kept.splits_per_second) && kept.splits_per_second >= 0 &&
         tuner::shaped(whole, kept.allocation) == kept.allocation &&
         tuner::fits(steady, kept.allocation);
}

/// In the folder that a job, too, has beside its file for all that it keeps.
std::string kept_path(const std::string& pipeline) {
  const fs::path file(pipeline);
  return (file.parent_path() / ".forebay" / file.filename()).string() + ".best.json";
}

Status keep(const std::string& path, AllKept all) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error)
    return fail(Code::kUnavailable, path + ": its folder cannot be made: " + error.message());
  return replace_whole(path, json_text(JsonFieldWriter::written(all), 1) + "\n", Sync::kNo);
}

AllKept read_kept(const std::string& path) {
  const auto text = read_whole(path, kMostBytes);
  if (!text) return {};
  const auto json = parse_json(*text);
  if (!json.is_object()) return {};
  AllKept kept;
  std::string problem;
  JsonFieldReader fields(json, "", problem);
  list(fields, kept);
  fields.finish();
  if (!problem.empty() || kept.version != kVersion || kept.best.size() > kMostKept) return {};
  return kept;
}

std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const char c : text) hash = mix64(hash ^ static_cast<unsigned char>(c));
  return hash;
}

}  // namespace

std::string digest_of(const tuner::PipelineModel& steady) {
  tuner::PipelineModel nameless = steady;
  nameless.name = "-";
  std::string text = pipeline_text(nameless);
  for (const tuner::NodeModel& node : steady.nodes) text += node.present ? "present\n" : "lost\n";
  return hex_digits(hash_of(text, kVersion)) + hex_digits(hash_of(text, ~kVersion));
}

BestFile::BestFile(const std::string& path, BestFileHooks hooks)
    : path_(path.empty() ? "" : kept_path(path)), hooks_(std::move(hooks)) {
  if (path_.empty()) return;
  AllKept kept = read_kept(path_);
  for (Kept& each : kept.best) {
    known_[each.digest] = {
        .allocation = {.actors = std::move(each.actors), .prefetch = each.prefetch},
        .splits_per_second = each.splits_per_second};
  }
}

tuner::BestKnown BestFile::find(const tuner::PipelineModel& steady) {
  if (!tuner::is_world(steady)) return tuner::find_best(steady);
  const std::string digest = digest_of(steady);
  const auto found = known_.find(digest);
  if (found != known_.end() && is_of(found->second, steady)) return found->second;
  if (hooks_.on_search) hooks_.on_search();
  tuner::BestKnown best = tuner::find_best(steady, {.stopped = hooks_.stopped});
  if (hooks_.stopped && hooks_.stopped()) return best;
  known_[digest] = best;
  if (path_.empty() || known_.size() > kMostKept) return best;
  AllKept all;
  for (const auto& [key, each] : known_) {
    all.best.push_back({.digest = key,
                        .splits_per_second = each.splits_per_second,
                        .prefetch = each.allocation.prefetch,
                        .actors = each.allocation.actors});
  }
  kept_ = keep(path_, std::move(all));
  return best;
}

}  // namespace forebay
