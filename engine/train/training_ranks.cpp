#include "engine/train/training_ranks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/process/machine.h"
#include "engine/ranks/merged_state.h"
#include "engine/ranks/rank_follower.h"
#include "engine/train/model_threads.h"
#include "engine/train/trained_model.h"
#include "trainer/embedding/slot_metadata.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/tiered_state.h"
#include "trainer/ranks/batch_divider.h"
#include "trainer/ranks/placement.h"
#include "trainer/saving/checkpoint_folder.h"

namespace forebay {
namespace {

/// Checks against the memory limit, which rank 0 uses for its pipeline.
Status fits(const JobSpec& job, std::uint64_t bytes) {
  const std::uint64_t limit = job.pipeline.memory_bytes;
  if (bytes <= limit) return {};
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  return fail(Code::kOverloaded,
              "this rank's part of the model needs " + std::to_string(bytes / kMiB + 1) +
                  " MiB, and pipeline.memory is " + std::to_string(limit / kMiB) + " MiB");
}

}  // namespace

RankOptions rank_options(const JobSpec& job, const RankEnvironment& ranks, StopSource& stop,
                         const RunEvents& events) {
  return {.rank = ranks.rank,
          .size = ranks.size,
          .group = ranks.group,
          .keys = job.cluster.keys,
          .alike = alike(job),
          .batch_size = job.order.batch_size,
          .timeout = job.trainer.rank_timeout,
          .stop_signal = [&stop] { return stop.signal(); },
          .on_stop = [&stop](int signal) { stop.ask(signal); },
          .say = [&events](const std::string& line) { events.announce("ranks: " + line); }};
}

Result<Leading> Leading::open(const JobSpec& job, const std::optional<RankEnvironment>& ranks,
                              StopSource& stop, const RunEvents& events) {
  Leading made;
  if (!ranks) return made;
  if (auto status = check_ranks(job, *ranks); !status) return pass(status);
  made.clock_ = std::make_unique<SystemClock>();
  RankOptions options = rank_options(job, *ranks, stop, events);
  options.address = listen_address(*ranks);
  auto leader = RankLeader::open(options, *made.clock_);
  if (!leader) return pass(leader);
  made.leader_ = std::move(*leader);
  auto met = meet_followers(job, *ranks, *made.leader_, stop.flag());
  if (!met) {
    made.end(tl::unexpected<Error>(met.error()), stop.signal());
    return pass(met);
  }
  made.ranks_ = std::move(*met);
  made.leader_->breaks(*made.ranks_);
  return made;
}

bool Leading::has_lost_a_rank() const { return !alone() && !leader_->check_ranks(); }

void Leading::accept(const Schema& schema, const MostIds& ids) {
  if (!alone()) leader_->accept(schema, ids);
}

void Leading::goes_on_from(const Checkpoint& checkpoint, const JobSpec& job, const Schema& schema) {
  auto shape = shape_of(job.trainer, schema);
  if (model_ == nullptr || !shape) return;
  auto layout = std::make_shared<TableLayout>(layout_of(job.trainer, *shape));
  auto whole = std::make_shared<std::shared_ptr<StateSource>>();
  model_->goes_on_from(
      [=, path = checkpoint.path, manifest = checkpoint.manifest,
       folder = job.trainer.tables.folder + ".whole"]() -> Result<std::unique_ptr<StateSource>> {
        if (*whole != nullptr) return std::make_unique<SharedState>(*whole);
        auto source = FolderSource::open(path, manifest);
        if (!source) return pass(source);
        auto opened = std::make_unique<FolderSource>(std::move(*source));
        if (!lies_in_tiers(*opened)) return opened;
        // A single trainer's tiered tables are sorted once for all ranks.
        *whole = whole_tables(*layout, std::move(opened), folder);
        return std::make_unique<SharedState>(*whole);
      });
}

std::unique_ptr<Model> Leading::lead(std::unique_ptr<Model> own, const JobSpec& job,
                                     const Schema& schema) {
  if (alone()) return own;
  std::vector<BatchDivider> dividers;
  const auto shape = shape_of(job.trainer, schema);
  if (shape && own->learns()) {
    const TablePlacement placement = place_tables(job.trainer, *shape, leader_->size());
    dividers.reserve(static_cast<std::size_t>(leader_->size()));
    for (int rank = 0; rank < leader_->size(); ++rank) {
      dividers.emplace_back(shape->table_rows, shards_of_rank(placement, rank), leader_->size());
    }
  }
  auto model = std::make_unique<LeadingModel>(std::move(own), *leader_, std::move(dividers));
  model_ = model.get();
  return model;
}

std::uint64_t Leading::slice_bytes(const JobSpec& job, const BatchColumns& columns) const {
  if (alone()) return 0;
  const Schema& schema = columns.schema;
  // Label, weight and dense values; one length for each sparse feature, and the ids; for each group
  // of columns that repeat the row's list and a first row.
  const std::uint64_t floats = 1 + (schema.weight ? 1 : 0) + schema.dense.size();
  const std::uint64_t row = sizeof(float) * floats + sizeof(std::int32_t) * schema.sparse.size() +
                            2 * sizeof(std::uint32_t) * schema.repeated.size();
  return RankLeader::bytes_for(job.order.batch_size * row + columns.ids.all * sizeof(std::int64_t));
}

BatchSource& Leading::dealt(BatchSource& batches) {
  if (alone()) return batches;
  leader_->feed(batches);
  return *leader_;
}

void Leading::end(const Status& how, int signal) {
  if (!alone()) leader_->end(how, signal);
}

FollowRun::FollowRun(JobSpec job, RankEnvironment ranks, StopSource& stop, RunEvents events,
                     OnTrained on_trained)
    : job_(std::move(job)),
      ranks_(std::move(ranks)),
      stop_(stop),
      events_(std::move(events)),
      on_trained_(std::move(on_trained)) {
  job_.trainer.threads = ModelThreads::first(job_, available_cpus(), ranks_.local_size);
}

TrainEnd FollowRun::run() {
  if (auto status = check_model(job_); !status) return TrainEnd::refused(status.error());
  if (auto status = check_ranks(job_, ranks_); !status) return TrainEnd::refused(status.error());
  const CpuLimit cpus(ranks_.local_rank);
  if (auto status = cpus.set(job_.pipeline.cpus); !status) {
    return TrainEnd::refused(status.error());
  }
  if (auto met = meet(); !met) {
    if (stop_.requested()) return TrainEnd::stopped(stop_.signal()).now();
    return end_of_meeting(met.error()).now();
  }
  return follow_to_the_end();
}

Status FollowRun::meet() {
  auto met =
      meet_leader(job_, ranks_, rank_options(job_, ranks_, stop_, events_), clock_, stop_.flag());
  if (!met) return pass(met);
  met_ = std::move(*met);
  met_->leader->breaks(*met_->ranks);
  return {};
}

Result<std::unique_ptr<Model>> FollowRun::make_part() {
  auto trained = make_trained_model(
      job_, {met_->leader->schema(), met_->leader->most_ids()}, met_->ranks.get(),
      [this](std::uint64_t bytes) { return fits(job_, bytes); }, 0);
  if (!trained) return pass(trained);
  return std::move(trained->model);
}

TrainEnd FollowRun::follow_to_the_end() {
  RankFollower& leader = *met_->leader;
  if (auto status = leader.wait_for_acceptance(); !status) return end_of_meeting(status.error());
  auto model = make_part();
  leader.ready(model ? Status{} : Status(fail(model.error().code, model.error().message)));
  if (!model) return TrainEnd::refused(model.error());
  model_ = std::move(*model);
  auto done = follow(leader, *model_);
  remove_tables(job_.trainer, met_->ranks.get());
  if (!done) {
    leader.close();
    return TrainEnd::failed(done.error()).now();
  }
  events_.announce("rank " + std::to_string(ranks_.rank) + " trained on " +
                   std::to_string(done->rows) + " rows of " + std::to_string(done->batches) +
                   " batches");
  on_trained_({ranks_.rank, ranks_.size, done->rows, done->batches});
  leader.close();
  const int signal = std::max(done->signal, stop_.signal());
  return signal == 0 ? TrainEnd::done() : TrainEnd::stopped(signal).now();
}

}  // namespace forebay
