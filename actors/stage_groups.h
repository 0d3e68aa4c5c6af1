#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "actors/stage_list.h"
#include "core/base/result.h"

namespace forebay {

/// Which neighbouring stages are fused: one actor takes a split through all stages of a group while
/// the split is in its CPU's cache. A stage alone is a group of one. A value.
class StageGroups {
 public:
  StageGroups() = default;
  /// `joined[i]`: the stages i and i + 1 are of one group; has one entry fewer than there are
  /// stages.
  explicit StageGroups(std::vector<bool> joined) : joined_(std::move(joined)) {}

  static StageGroups apart() { return {}; }

  /// Whether an actor that has done the stage goes on with the next one.
  bool joins_next(std::size_t stage) const { return stage < joined_.size() && joined_[stage]; }
  /// The first stage of the group of `stage`.
  std::size_t first(std::size_t stage) const {
    while (stage > 0 && joins_next(stage - 1)) --stage;
    return stage;
  }
  /// The stage behind the last one of the group of `stage`.
  std::size_t end(std::size_t stage) const {
    while (joins_next(stage)) ++stage;
    return stage + 1;
  }
  /// The first stages of the groups of `stages` stages, in order.
  std::vector<std::size_t> firsts(std::size_t stages) const;

  /// The names of the stages of each group of more than one.
  std::vector<std::vector<std::string>> names(const StageList& stages) const;

 private:
  std::vector<bool> joined_;  // shorter than the stages: those behind are not joined
};

/// Groups all neighbours that are not bound to actors of their own, as a user's function is, of
/// which there may be few instances or processes, and a stage that the job names. No stage waits
/// for another one's split, and a split stays in one CPU's cache. If `is_remote`, load stays apart:
/// its actors wait for a store, and need not hold up CPUs that could decode.
StageGroups group_all(const StageList& stages, const std::vector<TransformSpec>& operators,
                      bool is_remote);

/// The groups that `pipeline.fuse` lists. kInvalid names the key: a name that is no stage's, stages
/// that are not neighbours in this order, or a stage in two groups.
Result<StageGroups> listed_groups(const std::vector<std::vector<std::string>>& names,
                                  const StageList& stages);

/// The sum of the actors given for each stage; those of a group count once.
std::uint64_t total_actors(const StageGroups& groups, const std::vector<std::uint32_t>& actors);

/// The actors at the start, which are the same for all stages of a group: the most that the job
/// gives to one of them. If `spread`, also as many as the group has stages, but at most `cpus`: so
/// many threads would have served these stages apart.
std::vector<std::uint32_t> start_actors(const StageGroups& groups, std::vector<std::uint32_t> given,
                                        int cpus, bool spread);

}  // namespace forebay
