#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/scheduler/sim_process.h"

namespace forebay::scheduler {

/// One history: a cluster drawn by a seed, that does its job while the same seed breaks it.
///
/// The code is that of the real processes down to the frames of the wire: actors, node, codec,
/// journal, reorder buffer; network, disk, clock and the stages' work are simulated. A seed gives
/// the same history every time.
class SimCluster {
 public:
  explicit SimCluster(std::uint64_t seed);

  /// Runs the history to its end. Returns the broken invariant, or nothing.
  std::optional<std::string> run();

  /// A log of the history, for debugging a seed.
  std::vector<std::string> events;

  /// The faults that occurred, so that tests can check that they did.
  struct Counts {
    std::uint64_t kills = 0;
    std::uint64_t freezes = 0;
    std::uint64_t cuts = 0;
    std::uint64_t trainer_kills = 0;
    std::uint64_t head_kills = 0;
    std::uint64_t full_disks = 0;
    std::uint64_t leaves = 0;
    double seconds = 0;  ///< Simulated.
  };
  Counts counts;

 private:
  struct Slot {  // One of the workers' slots, kept over restarts.
    std::unique_ptr<SimWorker> process;
    Time back_at = {};
    Time thaw_at = {};
    std::uint64_t lives = 0;
    SimSplitExecutor::Options work;
  };

  void draw();
  void start_trainer();
  void start_worker(std::size_t index);
  void step();
  void break_something();
  void hurt_worker(std::size_t index);
  void kill_trainer();
  void repair_due();
  void repair_all();
  void check();
  void describe();
  void check_progress();
  void check_incarnations();
  void check_store();
  std::vector<SimProcess*> living();
  SimHead* head();
  void fail_with(const std::string& what) {
    if (!broken_) broken_ = what;
  }
  void note(const std::string& what);
  Time soon(std::uint64_t at_most_ms) {
    return now_ + std::chrono::milliseconds(1 + random_.below(at_most_ms));
  }

  const std::uint64_t seed_;
  Random random_;
  Time now_ = {};
  SimJob job_;
  test::SimNetwork network_;
  test::SimDisk disk_;
  SimTrainer::Options trainer_options_;
  std::unique_ptr<SimHeadAlone> head_alone_;
  std::unique_ptr<SimTrainer> trainer_;
  std::vector<Slot> workers_;
  Handed checkpoint_;
  Time faults_end_ = {};
  Time next_fault_ = {};
  Time next_check_ = {};
  Time heal_at_ = {};
  Time head_back_at_ = {};
  Time head_thaw_at_ = {};
  Time trainer_back_at_ = {};
  Time trainer_thaw_at_ = {};
  Time disk_free_at_ = {};
  Time quiet_since_ = {};  // Since when there has been no progress and no reported problem.
  std::map<std::uint64_t, std::pair<std::size_t, std::uint64_t>> incarnations_;  // slot, life
  std::uint64_t progress_ = 0;
  std::optional<std::string> broken_;
  bool head_is_dying_ = false;
  bool hostile_ = false;
};

}  // namespace forebay::scheduler
