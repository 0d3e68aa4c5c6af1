#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/stage_list.h"
#include "engine/analyze/run_sample.h"

namespace forebay {

/// The six parts that a job's time is divided into.
enum class Part : std::uint8_t { kFetch, kDecode, kTransform, kHandOver, kLink, kTrainer };
inline constexpr std::size_t kParts = 6;

/// Returns `fetch`, `decode`, `transform`, `hand-over`, `link` or `trainer`.
std::string_view name_of(Part part);
/// Returns the part that a stage's time counts for.
Part part_of(const StageInfo& stage);

/// A stage, operator or other piece of a part, and what it took. A value.
struct Piece {
  std::string name;  ///< A stage's, `transform 1 (log1p)`, `trainer`, `link`.
  Part part = Part::kTrainer;
  std::string stage = {};  ///< Where it is one of a job's stages or part of one.
  double busy = 0;         ///< Seconds, see README.md.
  double cpu = 0;          ///< Of these, on a CPU.
};

/// Splits that workers made: what their stages took and what the link took. A value.
struct RemoteWork {
  double splits = 0;
  std::vector<double> stage_seconds = {};  ///< By stage of the job, a split.
  double link_seconds = 0;                 ///< A split.
};

/// Returns what the last splits say of those that workers made between `from` and `to`, by the
/// clock of this node; the time of each is that of its batch. Pure.
RemoteWork remote_work(const std::vector<PastSplit>& history, std::chrono::nanoseconds from,
                       std::chrono::nanoseconds to);

/// Seconds of the trainer's steps between two samples, without the run delay of its thread.
double trainer_seconds(const RunSample& before, const RunSample& now);

/// Divides the time between two samples into pieces, in the order of the pipeline. `stages` are the
/// job's, `cpus` those of the process. CPU time outside of the stages is the trainer's, as far as
/// its steps can have used it. Pure.
std::vector<Piece> pieces_of(const RunSample& before, const RunSample& now, const StageList& stages,
                             const RemoteWork& remote, double cpus);

/// Returns the share of each part; their sum is 1, or 0 if nothing was busy.
std::array<double, kParts> shares_of(const std::vector<Piece>& pieces);

double total_busy(const std::vector<Piece>& pieces);

}  // namespace forebay
