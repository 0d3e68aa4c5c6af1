#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/node/node.h"
#include "scheduler/client/split_client.h"
#include "scheduler/head/head_actor.h"
#include "scheduler/protocol.h"
#include "scheduler/worker/split_executor.h"
#include "scheduler/worker/worker_actor.h"
#include "tests/scheduler/sim_job.h"
#include "tests/support/sim_disk.h"
#include "tests/support/sim_network.h"
#include "tests/support/test_host.h"

namespace forebay::scheduler {

using Time = std::chrono::nanoseconds;

/// One process of the simulation: a host without threads, a node, and its actors. Its destruction
/// is a kill: no peer gets a message about it.
class SimProcess : public HeadFinder, public SplitClientFinder {
 public:
  SimProcess(test::SimNetwork& network, const std::string& name)
      : transport(network, name), node(host.host(), transport) {
    node.start();
  }
  ~SimProcess() override { kill(); }

  HeadRef head() override;
  SplitClientRef split_client(const std::string& address) override;

  /// Advances its time by `by`, unless it is frozen; a thawed process catches up at once.
  void pass(Time by);
  void thaw() { transport.frozen = false; }
  bool frozen() const { return transport.frozen; }
  virtual void run() { host.deliver_all(); }

  test::TestHost host;
  test::SimTransport transport;
  Node node;
  HeadRef head_here;
  SplitClientRef split_client_here;

 protected:
  /// For the destructors of derived classes whose actors use their members.
  void kill();

 private:
  Time missed_ = {};
};

/// The store with a head's journalled state, and the head.
struct SimHead {
  std::shared_ptr<HeadActor::Journal> journal;
  HeadActor::Ref ref;

  static SimHead start(SimProcess& process, test::SimDisk& disk);
};

/// Makes splits by waiting: `cores` at a time, each for its time.
class SimSplitExecutor final : public SplitExecutor {
 public:
  struct Options {
    std::uint32_t cores = 1;
    std::uint32_t slots = 2;
    Time split_time = std::chrono::milliseconds(50);
    std::optional<std::uint64_t> fails_at;  ///< After so many splits.
    SimPipeline* here = nullptr;            ///< On the trainer's own node.
  };

  SimSplitExecutor(const SimJob& job, const Options& how) : options(how), job_(job) {}

  void open(const JobShare& job, std::uint64_t opening) override;
  void begin(std::uint64_t split) override { waiting_.push_back(split); }
  bool forget(std::uint64_t split) override;
  bool begun(std::uint64_t split) const override { return running_.contains(split); }
  std::uint32_t slots() const override { return options.slots; }
  Load load() override { return {}; }

  /// Sends the worker the splits that are done at `now`, and begins new ones on free cores.
  void step(Time now, const WorkResults& worker);

  std::string text() const {
    return " (waiting " + std::to_string(waiting_.size()) + ", running " +
           std::to_string(running_.size()) + ")";
  }

  Options options;
  std::size_t most_at_once = 0;

 private:
  const SimJob job_;
  MemoryBudget budget_{1 << 26};
  BufferPool pool_{budget_};
  std::uint64_t opening_ = 0;
  bool opening_is_due_ = false;
  std::uint64_t made_ = 0;
  std::deque<std::uint64_t> waiting_;
  std::map<std::uint64_t, Time> running_;  // until when
};

class SimWorker final : public SimProcess {
 public:
  SimWorker(test::SimNetwork& network, const std::string& name, std::uint64_t pid,
            const SimJob& job, const SimSplitExecutor::Options& options);
  ~SimWorker() override { kill(); }
  void run() override;

  SimSplitExecutor work;
  WorkerActor::Ref worker;
  bool ended = false;
};

/// A head in a process of its own.
class SimHeadAlone final : public SimProcess {
 public:
  SimHeadAlone(test::SimNetwork& network, test::SimDisk& disk);
  ~SimHeadAlone() override { kill(); }

  SimHead head;
};

/// The trainer's process: pipeline and split client, and, by default, the head and a worker.
class SimTrainer final : public SimProcess {
 public:
  struct Options {
    bool head_is_here = true;
    std::optional<SimSplitExecutor::Options> local;
    Time step_time = std::chrono::milliseconds(20);  ///< The trainer's time for a batch.
  };

  SimTrainer(test::SimNetwork& network, test::SimDisk& disk, const SimJob& job, Handed start,
             const Options& options);
  ~SimTrainer() override { kill(); }
  void run() override;

  const Options options;
  SimPipeline pipeline;
  std::optional<SimHead> head;
  SplitClient::Ref own_split_client;
  std::optional<SimSplitExecutor> local_executor;
  WorkerActor::Ref local_worker;
  Time last_batch = {};
  bool closed = false;

  SplitClientStatus split_client_status();

 private:
  bool ending_ = false;
  Time next_batch_ = {};
};

}  // namespace forebay::scheduler
