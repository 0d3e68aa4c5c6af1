#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/best_known.h"
#include "tuner/world/oracle_line.h"

namespace forebay {

/// How a BestFile searches.
struct BestFileHooks {
  std::function<bool()> stopped = {};    ///< True ends a search; its result is not kept.
  std::function<void()> on_search = {};  ///< Called before each search.
};

/// The best known allocations of one pipeline file's worlds, kept in `.forebay/FILE.best.json`
/// beside it under the digest of each world: a search takes seconds to minutes and its result is
/// always the same. Not thread-safe.
class BestFile {
 public:
  /// Reads what is kept of the pipeline file, if there is anything sound; empty `path`: keeps
  /// nothing.
  explicit BestFile(const std::string& path, BestFileHooks hooks = {});

  /// find_best(), or what is kept of it. What was found is kept at once; where that is impossible
  /// the search is made again in the next process.
  tuner::BestKnown find(const tuner::PipelineModel& steady);

  /// Why the last result could not be kept.
  const Status& kept() const { return kept_; }

 private:
  std::string path_;
  BestFileHooks hooks_;
  std::map<std::string, tuner::BestKnown> known_;  // By digest.
  Status kept_;
};

/// The digest of what find_best() depends on: the model but for its names, as hexadecimal digits.
std::string digest_of(const tuner::PipelineModel& steady);

}  // namespace forebay
