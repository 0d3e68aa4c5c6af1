#include "engine/train/leading.h"

#include <utility>
#include <vector>

#include "engine/ranks/merged_state.h"
#include "engine/ranks/rank_meeting.h"
#include "trainer/embedding/table_storage.h"
#include "trainer/embedding/tiered/tiered_state.h"
#include "trainer/ranks/placement.h"
#include "trainer/saving/checkpoint_folder.h"

namespace forebay {

std::function<void(const std::string&)> say_of_ranks(const RunEvents& events) {
  return [&events](const std::string& line) { events.announce("ranks: " + line); };
}

Result<Leading> Leading::open(const JobSpec& job, const std::optional<RankEnvironment>& ranks,
                              StopSource& stop, const RunEvents& events) {
  Leading made;
  if (!ranks) return made;
  if (auto status = check_ranks(job, *ranks); !status) return pass(status);
  made.clock_ = std::make_unique<SystemClock>();
  auto leader = RankLeader::open({.size = ranks->size,
                                  .group = ranks->group,
                                  .keys = job.cluster.keys,
                                  .alike = alike(job),
                                  .listen = listen_address(*ranks),
                                  .timeout = job.trainer.rank_timeout,
                                  .on_stop = [&stop](int signal) { stop.ask(signal); },
                                  .say = say_of_ranks(events)},
                                 *made.clock_);
  if (!leader) return pass(leader);
  made.leader_ = std::move(*leader);
  auto met = meet_followers(job, *ranks, *made.leader_, stop.flag());
  if (!met) {
    made.end(fail(met.error().code, met.error().message), stop.signal());
    return pass(met);
  }
  made.ranks_ = std::move(*met);
  made.leader_->breaks(*made.ranks_);
  return made;
}

bool Leading::has_lost_a_rank() const { return !alone() && !leader_->check_ranks(); }

Status Leading::accept(const Schema& schema) {
  return alone() ? Status{} : leader_->accept(schema);
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
      dividers.emplace_back(shape->table_rows, shards_of_rank(placement, rank));
    }
  }
  auto model = std::make_unique<LeadingModel>(std::move(own), *leader_, std::move(dividers));
  model_ = model.get();
  return model;
}

std::uint64_t Leading::slice_bytes(const JobSpec& job, const Schema& schema) const {
  if (alone()) return 0;
  // One label and the dense values; one length and one id for each sparse feature.
  const std::uint64_t row = sizeof(float) * (1 + schema.dense.size()) +
                            (sizeof(std::int32_t) + sizeof(std::int64_t)) * schema.sparse.size();
  return RankLeader::bytes_for(job.order.batch_size * row);
}

BatchSource& Leading::dealt(BatchSource& batches) {
  if (alone()) return batches;
  leader_->feed(batches);
  return *leader_;
}

void Leading::end(const Status& how, int signal) {
  if (!alone()) leader_->end(how, signal);
}

}  // namespace forebay
