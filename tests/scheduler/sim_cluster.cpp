#include "tests/scheduler/sim_cluster.h"

#include <algorithm>
#include <utility>

namespace forebay::scheduler {
namespace {

using namespace std::chrono_literals;

constexpr Time kStep = 10ms;
constexpr Time kMostTime = 300s;

}  // namespace

SimCluster::SimCluster(std::uint64_t seed)
    : seed_(seed), random_(mix64(seed, 1)), network_(mix64(seed, 2)), disk_(mix64(seed, 3)) {
  draw();
  network_.log = [this](const std::string& what) { note(what); };
  disk_.on_death = [this] { head_is_dying_ = true; };
  if (!trainer_options_.head_is_here) head_alone_ = std::make_unique<SimHeadAlone>(network_, disk_);
  start_trainer();
  for (std::size_t i = 0; i < workers_.size(); ++i) start_worker(i);
}

void SimCluster::draw() {
  job_.splits = 4 + random_.below(20);
  job_.epochs = 1 + random_.below(3);
  job_.batch_size = 3 + random_.below(20);
  job_.window = 1 + random_.below(10);
  if (random_.below(6) == 0) job_.mode = OrderSpec::Mode::kArrival;
  trainer_options_.head_is_here = random_.below(2) == 0;
  trainer_options_.step_time = std::chrono::milliseconds(5 + random_.below(120));
  const auto work = [this] {
    SimSplitExecutor::Options options;
    options.cores = 1 + random_.below(3);
    options.slots = options.cores + random_.below(4);
    options.split_time =
        std::chrono::milliseconds(20 + random_.below(random_.below(8) == 0 ? 3000 : 400));
    return options;
  };
  if (random_.below(3) == 0) trainer_options_.local = work();
  workers_.resize(1 + random_.below(4));
  for (Slot& slot : workers_) slot.work = work();
  // One of several may be a worker that fails; the others do its share.
  if (workers_.size() > 1 && random_.below(6) == 0)
    workers_.back().work.fails_at = random_.below(9);
  network_.faults.delay = std::chrono::milliseconds(random_.below(4) == 0 ? 200 : 5);
  hostile_ = random_.below(3) == 0;
  faults_end_ = random_.below(8) == 0 ? 0s : 15s;
  next_fault_ = soon(1000);
}

void SimCluster::note(const std::string& what) {
  events.push_back(
      std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now_).count()) +
      " ms: " + what);
}

void SimCluster::start_trainer() {
  trainer_ = std::make_unique<SimTrainer>(network_, disk_, job_, checkpoint_, trainer_options_);
  quiet_since_ = now_;
}

void SimCluster::start_worker(std::size_t index) {
  Slot& slot = workers_[index];
  const std::string name = "w" + std::to_string(index);
  ++slot.lives;
  slot.process = std::make_unique<SimWorker>(network_, name, slot.lives, job_, slot.work);
}

std::vector<SimProcess*> SimCluster::living() {
  std::vector<SimProcess*> processes;
  if (head_alone_) processes.push_back(head_alone_.get());
  if (trainer_) processes.push_back(trainer_.get());
  for (Slot& slot : workers_) {
    if (slot.process) processes.push_back(slot.process.get());
  }
  return processes;
}

SimHead* SimCluster::head() {
  if (head_alone_) return &head_alone_->head;
  return trainer_ && trainer_->head ? &*trainer_->head : nullptr;
}

std::optional<std::string> SimCluster::run() {
  while (!broken_ && now_ < kMostTime) {
    step();
    if (trainer_ && trainer_->closed) break;
  }
  if (broken_ || now_ >= kMostTime) describe();
  counts.seconds = std::chrono::duration<double>(now_).count();
  if (broken_) return broken_;
  if (!trainer_ || !trainer_->closed) return "it has not ended";
  const Handed& handed = trainer_->pipeline.handed();
  for (std::size_t row = 0; row < handed.times.size(); ++row) {
    if (handed.times[row] == job_.epochs) continue;
    return "row " + std::to_string(row) + " came " + std::to_string(handed.times[row]) + " times";
  }
  if (job_.mode == OrderSpec::Mode::kExact && handed.position.digest != job_.digest()) {
    return "the order_digest differs from that of the run without a cluster";
  }
  return std::nullopt;
}

void SimCluster::step() {
  now_ += kStep;
  if (now_ < faults_end_) {
    if (now_ >= next_fault_) break_something();
    repair_due();
  } else if (now_ - kStep < faults_end_) {
    repair_all();
  }
  repair_due();
  network_.step(now_);
  auto processes = living();
  for (std::size_t i = processes.size(); i > 1; --i) {
    std::swap(processes[i - 1], processes[random_.below(i)]);
  }
  for (SimProcess* process : processes) {
    process->pass(kStep);
    if (!process->frozen()) process->run();
  }
  if (std::exchange(head_is_dying_, false)) {
    note("the head's process dies in the midst of a write");
    if (head_alone_) {
      head_alone_.reset();
      head_back_at_ = soon(2000);
    } else {
      kill_trainer();
    }
    ++counts.head_kills;
  }
  if (trainer_ && now_ >= next_check_) {
    next_check_ = now_ + 100ms;
    check();
  }
}

void SimCluster::describe() {
  for (const Slot& slot : workers_) {
    if (!slot.process) continue;
    auto asked = ask(slot.process->worker, QueryWorker{}, 1s);
    slot.process->host.deliver_all();
    if (!asked.ready()) continue;
    const auto status = asked.wait().value_or(WorkerStatus{});
    note("a worker: phase " + std::to_string(static_cast<int>(status.phase)) + ", incarnation " +
         std::to_string(status.incarnation) + ", making " + std::to_string(status.making) +
         ", ready " + std::to_string(status.ready) + ", done " +
         std::to_string(status.splits_done) + " " + status.trouble + slot.process->work.text());
  }
  if (trainer_) {
    const SplitClientStatus split_client = trainer_->split_client_status();
    note("feed: open " + std::to_string(split_client.open) + ", issued " +
         std::to_string(split_client.issued) + ", pulling " + std::to_string(split_client.pulling) +
         ", arrived " + std::to_string(split_client.arrived));
    for (const std::string& problem : split_client.problems) note("feed's problem: " + problem);
  }
  if (SimHead* one = head()) {
    SimProcess& process = head_alone_ ? static_cast<SimProcess&>(*head_alone_) : *trainer_;
    auto answer = ask(one->ref, QueryCluster{}, 1s);
    process.host.deliver_all();
    if (!answer.ready()) return;
    const auto status = answer.wait().value_or(ClusterStatus{});
    note("head: waiting " + std::to_string(status.waiting) + ", leased " +
         std::to_string(status.leased) + ", finished " + std::to_string(status.finished) + " of " +
         std::to_string(status.splits) + ", prepared " + std::to_string(status.prepared));
    for (const auto& node : status.nodes) {
      note("head: " + node.name + " state " + std::to_string(static_cast<int>(node.state)) +
           " capacity " + std::to_string(node.capacity) + " leases " + std::to_string(node.leases));
    }
    for (const std::string& problem : status.problems) note("head's problem: " + problem);
  }
}

// ---- faults ----

void SimCluster::break_something() {
  next_fault_ = soon(2500);
  const std::uint32_t kind = random_.below(16);
  const std::size_t worker = random_.below(workers_.size());
  if (kind < 7) {
    hurt_worker(worker);
  } else if (kind < 10) {
    const std::string name = "w" + std::to_string(worker);
    const std::string there = random_.below(2) == 0 && head_alone_ ? "head" : "trainer";
    note("the link between " + name + " and " + there + " is cut");
    const std::uint32_t which = random_.below(3);
    if (which != 1) network_.cut(name, there);
    if (which != 0) network_.cut(there, name);
    if (random_.below(3) == 0) network_.cut("trainer", "head");
    heal_at_ = soon(5000);
    ++counts.cuts;
  } else if (kind < 11 && trainer_ && random_.below(2) == 0) {
    kill_trainer();
    ++counts.trainer_kills;
  } else if (kind < 12 && trainer_) {
    note("the trainer is frozen");
    trainer_->transport.frozen = true;
    trainer_thaw_at_ = soon(4000);
    ++counts.freezes;
  } else if (kind < 13 && head_alone_) {
    note("the head is killed");
    head_alone_.reset();
    head_back_at_ = soon(3000);
    ++counts.head_kills;
  } else if (kind < 14 && head_alone_) {
    note("the head is frozen");
    head_alone_->transport.frozen = true;
    head_thaw_at_ = soon(5000);
    ++counts.freezes;
  } else if (kind < 15) {
    note("the disk is full");
    disk_.full = true;
    disk_free_at_ = soon(4000);
    ++counts.full_disks;
  } else if (!disk_.full) {
    disk_.dies_in_next_write = true;
  }
  if (hostile_ && random_.below(3) == 0) {
    note("the network loses, repeats and swaps messages");
    network_.faults.drop = random_.uniform() * 0.1;
    network_.faults.repeat = random_.uniform() * 0.2;
    network_.faults.swap = random_.uniform() * 0.2;
  }
}

void SimCluster::hurt_worker(std::size_t index) {
  Slot& slot = workers_[index];
  if (!slot.process) return;
  switch (random_.below(3)) {
    case 0:
      note("w" + std::to_string(index) + " is killed");
      slot.process.reset();
      slot.back_at = soon(4000);
      ++counts.kills;
      break;
    case 1:
      note("w" + std::to_string(index) + " is frozen");
      slot.process->transport.frozen = true;
      slot.thaw_at = soon(8000);
      ++counts.freezes;
      break;
    default:
      note("w" + std::to_string(index) + " is asked to leave");
      static_cast<void>(
          slot.process->worker.tell(GoAway{std::chrono::milliseconds(random_.below(1000))}));
      slot.back_at = soon(6000) + 3s;
      ++counts.leaves;
  }
}

void SimCluster::kill_trainer() {
  note("the trainer is killed");
  trainer_.reset();
  trainer_back_at_ = soon(3000);
}

void SimCluster::repair_due() {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    Slot& slot = workers_[i];
    if (slot.process && slot.process->ended) slot.process.reset();
    if (!slot.process && now_ >= slot.back_at) start_worker(i);
    if (slot.process && now_ >= slot.thaw_at) slot.process->thaw();
  }
  if (now_ >= heal_at_) network_.heal_all();
  if (now_ >= disk_free_at_) disk_.full = false;
  const bool alone = !trainer_options_.head_is_here;
  if (alone && !head_alone_ && now_ >= head_back_at_ && !disk_.full) {
    head_alone_ = std::make_unique<SimHeadAlone>(network_, disk_);
  }
  if (head_alone_ && now_ >= head_thaw_at_) head_alone_->thaw();
  if (!trainer_ && now_ >= trainer_back_at_ && (alone || !disk_.full)) start_trainer();
  if (trainer_ && now_ >= trainer_thaw_at_) trainer_->thaw();
}

void SimCluster::repair_all() {
  note("all is well from here on");
  for (Slot& slot : workers_) slot.back_at = slot.thaw_at = now_;
  heal_at_ = disk_free_at_ = head_back_at_ = head_thaw_at_ = now_;
  trainer_back_at_ = trainer_thaw_at_ = now_;
  disk_.dies_in_next_write = false;
  network_.faults.drop = network_.faults.repeat = network_.faults.swap = 0;
}

// ---- invariants ----

void SimCluster::check() {
  if (!trainer_->pipeline.broken.empty()) fail_with(trainer_->pipeline.broken);
  for (const Slot& slot : workers_) {
    if (slot.process && slot.process->work.most_at_once > slot.process->work.options.slots + 2) {
      fail_with("a worker has more splits in hand than it wants");
    }
  }
  const bool mute = trainer_->frozen() || (head_alone_ && head_alone_->frozen());
  if (mute) quiet_since_ = now_;
  check_incarnations();
  if (trainer_->frozen()) return;
  // Sometimes takes a checkpoint; a killed trainer resumes from the last one.
  if (random_.below(4) == 0) checkpoint_ = trainer_->pipeline.handed();
  check_store();
  check_progress();
}

/// An incarnation names one membership: no two workers ever have the same.
void SimCluster::check_incarnations() {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const Slot& slot = workers_[i];
    if (!slot.process || slot.process->frozen() || slot.process->ended) continue;
    auto asked = ask(slot.process->worker, QueryWorker{}, 1s);
    slot.process->host.deliver_all();
    if (!asked.ready()) continue;
    const auto status = asked.wait();
    if (!status || status->incarnation == 0) continue;
    const auto who = std::pair(i, slot.lives);
    if (incarnations_.try_emplace(status->incarnation, who).first->second != who) {
      fail_with("incarnation " + std::to_string(status->incarnation) + " was given twice");
    }
  }
}

void SimCluster::check_store() {
  const SimHead* now = head();
  if (now == nullptr || (head_alone_ && head_alone_->frozen())) return;
  const HeadState& state = now->journal->state();
  const SplitClientStatus split_client = trainer_->split_client_status();
  if (!split_client.open || split_client.session != state.session()) return;
  const Position& position = trainer_->pipeline.handed().position;
  const std::uint64_t handed =
      position.epoch * job_.splits + position.split + position.ahead.size();
  if (state.finished().size() > handed) {
    fail_with("the store has " + std::to_string(state.finished().size()) +
              " splits as finished, the trainer was handed " + std::to_string(handed));
  }
}

void SimCluster::check_progress() {
  const std::uint64_t progress =
      trainer_->pipeline.handed().position.batches + trainer_->pipeline.num_arrived();
  if (progress != progress_) {
    progress_ = progress;
    quiet_since_ = now_;
  }
  if (trainer_->pipeline.finished()) quiet_since_ = now_;
  if (now_ - quiet_since_ < 2s) return;
  std::vector<std::string> problems = trainer_->split_client_status().problems;
  if (const SimHead* one = head(); one != nullptr && !(head_alone_ && head_alone_->frozen())) {
    SimProcess& process = head_alone_ ? static_cast<SimProcess&>(*head_alone_) : *trainer_;
    auto answer = ask(one->ref, QueryCluster{}, 1s);
    process.host.deliver_all();
    if (answer.ready()) {
      const auto status = answer.wait();
      if (status) problems.insert(problems.end(), status->problems.begin(), status->problems.end());
    }
  }
  if (!problems.empty()) quiet_since_ = now_;
  if (now_ - quiet_since_ > 8s) fail_with("nothing comes for 8 s and nobody says why");
}

}  // namespace forebay::scheduler
