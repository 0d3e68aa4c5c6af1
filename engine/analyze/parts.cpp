#include "engine/analyze/parts.h"

#include <algorithm>
#include <numeric>

#include "core/base/clock.h"
#include "core/base/enum_names.h"
#include "engine/run/tuned_stages.h"

namespace forebay {
namespace {

constexpr EnumName<Part> kNames[] = {
    {"fetch", Part::kFetch},        {"decode", Part::kDecode}, {"transform", Part::kTransform},
    {"hand-over", Part::kHandOver}, {"link", Part::kLink},     {"trainer", Part::kTrainer}};

/// A stage's busy time and the CPU in it, without the time in which its actors wanted a CPU.
Piece piece_of_pool(const PoolStats& before, const PoolStats& now) {
  const tuner::StageObservation seen = observation_of(before, now);
  const double ready_share =
      seen.done_seconds > 0 ? std::min(1.0, seen.done_ready_seconds / seen.done_seconds) : 0;
  Piece piece;
  piece.cpu = std::min(seen.cpu_seconds, seen.working_seconds);
  piece.busy = std::max(piece.cpu, seen.working_seconds * (1 - ready_share));
  return piece;
}

/// The time of the stage's operators between two samples: CPU, and waiting.
struct OperatorPiece {
  std::string name;
  double cpu = 0;
  double waited = 0;
};

std::vector<OperatorPiece> operators_of(const RunSample& before, const RunSample& now,
                                        const StageInfo& stage) {
  std::vector<OperatorPiece> found;
  for (std::size_t i = 0; i < now.operators.size(); ++i) {
    const auto& operation = now.operators[i];
    if (operation.number < stage.first_op || operation.number >= stage.end_op) continue;
    const double cpu = in_seconds(operation.cpu - before.operators[i].cpu);
    const double time = in_seconds(operation.time - before.operators[i].time);
    found.push_back({operation.name, cpu, std::max(0.0, time - cpu)});
  }
  return found;
}

/// Divides a stage of operators among them, and what is left to the stage itself.
///
/// An operator's time contains waits for a CPU, which are not its own, so the stage's waiting for
/// other things is divided in proportion.
void add_operators(std::vector<Piece>& pieces, const Piece& stage,
                   const std::vector<OperatorPiece>& operators) {
  double cpu = 0;
  double waited = 0;
  for (const OperatorPiece& each : operators) {
    cpu += each.cpu;
    waited += each.waited;
  }
  // More than the stage's own only by the unfinished split: its time is not the stage's yet.
  const double scale = cpu > stage.cpu && cpu > 0 ? stage.cpu / cpu : 1;
  const double waiting = stage.busy - stage.cpu;
  double left = stage.busy;
  double left_cpu = stage.cpu;
  for (const OperatorPiece& each : operators) {
    const double share = waited > 0 ? each.waited / waited : 0;
    Piece piece{.name = each.name, .part = stage.part, .stage = stage.name};
    piece.cpu = each.cpu * scale;
    piece.busy = piece.cpu + waiting * share;
    left -= piece.busy;
    left_cpu -= piece.cpu;
    pieces.push_back(std::move(piece));
  }
  Piece rest = stage;
  rest.busy = std::max(0.0, left);
  rest.cpu = std::clamp(left_cpu, 0.0, rest.busy);
  pieces.push_back(std::move(rest));
}

}  // namespace

std::string_view name_of(Part part) { return name_in(kNames, part); }

Part part_of(const StageInfo& stage) {
  switch (stage.kind) {
    case StageInfo::Kind::kLoad:
      return Part::kFetch;
    case StageInfo::Kind::kDecode:
      return Part::kDecode;
    case StageInfo::Kind::kShuffle:
      return Part::kHandOver;
    case StageInfo::Kind::kTransform:
      return Part::kTransform;
  }
  return Part::kHandOver;
}

RemoteWork remote_work(const std::vector<PastSplit>& history, std::chrono::nanoseconds from,
                       std::chrono::nanoseconds to) {
  RemoteWork work;
  std::vector<double> links;
  for (const PastSplit& split : history) {
    if (split.node.empty() || split.times.arrived.count() == 0) continue;
    if (split.batch.begin < from || split.batch.begin > to) continue;
    ++work.splits;
    work.stage_seconds.resize(std::max(work.stage_seconds.size(), split.times.stages.size()));
    for (std::size_t i = 0; i < split.times.stages.size(); ++i) {
      const auto& span = split.times.stages[i];
      work.stage_seconds[i] += std::max(0.0, in_seconds(span.end - span.begin));
    }
    links.push_back(std::max(0.0, in_seconds(split.times.arrived - split.times.sent)));
  }
  if (links.empty()) return work;
  for (double& seconds : work.stage_seconds) seconds /= work.splits;
  const auto tenth = links.begin() + static_cast<std::ptrdiff_t>(links.size() / 10);
  std::ranges::nth_element(links, tenth);
  work.link_seconds = *tenth;
  return work;
}

double trainer_seconds(const RunSample& before, const RunSample& now) {
  const double worked = in_seconds(now.worked - before.worked);
  const double delay = now.trainer_ready_seconds - before.trainer_ready_seconds;
  return std::max(0.0, worked - std::clamp(delay, 0.0, worked));
}

std::vector<Piece> pieces_of(const RunSample& before, const RunSample& now, const StageList& stages,
                             const RemoteWork& remote, double cpus) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Piece stage = piece_of_pool(before.pipeline.stages[i].pool, now.pipeline.stages[i].pool);
    if (i < remote.stage_seconds.size()) {
      stage.busy += remote.splits * remote.stage_seconds[i];
    }
    stage.name = stage.stage = stages[i].name;
    stage.part = part_of(stages[i]);
    const auto operators = operators_of(before, now, stages[i]);
    if (operators.empty()) {
      pieces.push_back(std::move(stage));
    } else {
      add_operators(pieces, stage, operators);
    }
  }
  Piece batch = piece_of_pool(before.pipeline.stages.back().pool, now.pipeline.stages.back().pool);
  batch.name = now.pipeline.stages.back().name;
  batch.part = Part::kHandOver;
  pieces.push_back(std::move(batch));
  const double link = remote.splits * remote.link_seconds;
  pieces.push_back({.name = "link", .part = Part::kLink, .busy = link});
  double outside = now.cpu_seconds - before.cpu_seconds;
  for (const Piece& piece : pieces) outside -= piece.cpu;
  const double steps = trainer_seconds(before, now);
  Piece trainer{.name = "trainer", .part = Part::kTrainer};
  trainer.cpu = std::clamp(outside, 0.0, cpus * steps);
  trainer.busy = std::max(steps, trainer.cpu);
  pieces.push_back(std::move(trainer));
  return pieces;
}

double total_busy(const std::vector<Piece>& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), 0.0,
                         [](double sum, const Piece& piece) { return sum + piece.busy; });
}

std::array<double, kParts> shares_of(const std::vector<Piece>& pieces) {
  std::array<double, kParts> shares{};
  const double all = total_busy(pieces);
  if (all <= 0) return shares;
  for (const Piece& piece : pieces)
    shares[static_cast<std::size_t>(piece.part)] += piece.busy / all;
  return shares;
}

}  // namespace forebay
