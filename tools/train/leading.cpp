#include "tools/train/leading.h"

#include <utility>

#include "tools/process/stop_request.h"
#include "tools/ranks/rank_meeting.h"
#include "trainer/saving/folder_source.h"

namespace forebay {

Result<Leading> Leading::open(const JobSpec& job, const std::optional<RankEnvironment>& ranks) {
  Leading made;
  if (!ranks) return made;
  if (auto status = check_ranks(job, *ranks); !status) return pass(status);
  made.clock_ = std::make_unique<SystemClock>();
  auto leader = RankLeader::open({.size = ranks->size,
                                  .group = ranks->group,
                                  .keys = job.cluster.keys,
                                  .listen = listen_address(*ranks),
                                  .timeout = job.trainer.rank_timeout,
                                  .on_stop = StopRequest::ask},
                                 *made.clock_);
  if (!leader) return pass(leader);
  made.leader_ = std::move(*leader);
  auto met = meet_ranks(job, *ranks, made.leader_->address());
  if (!met) return pass(met);
  made.ranks_ = std::move(met->ranks);
  made.leader_->breaks(*made.ranks_);
  return made;
}

Status Leading::welcome(const Schema& schema) {
  return alone() ? Status{} : leader_->welcome(schema);
}

void Leading::goes_on_from(const Checkpoint& checkpoint) {
  if (model_ == nullptr) return;
  model_->goes_on_from([path = checkpoint.path,
                        manifest = checkpoint.manifest]() -> Result<std::unique_ptr<StateSource>> {
    auto source = FolderSource::open(path, manifest);
    if (!source) return pass(source);
    return std::make_unique<FolderSource>(std::move(*source));
  });
}

std::unique_ptr<Model> Leading::lead(std::unique_ptr<Model> own) {
  if (alone()) return own;
  auto model = std::make_unique<LeadingModel>(std::move(own), *leader_);
  model_ = model.get();
  return model;
}

std::uint64_t Leading::slice_bytes(const JobSpec& job, const Schema& schema) const {
  if (alone()) return 0;
  // A row's label and dense values; a length and an id of each sparse feature.
  const std::uint64_t row = sizeof(float) * (1 + schema.dense.size()) +
                            (sizeof(std::int32_t) + sizeof(std::int64_t)) * schema.sparse.size();
  return RankLeader::bytes_for(job.order.batch_size * row);
}

BatchSource& Leading::dealt(BatchSource& batches) {
  if (alone()) return batches;
  leader_->feed(batches);
  return *leader_;
}

void Leading::end(const Status& how) {
  if (!alone()) leader_->end(how, StopRequest::signal());
}

}  // namespace forebay
