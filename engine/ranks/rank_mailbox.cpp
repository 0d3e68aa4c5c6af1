#include "engine/ranks/rank_mailbox.h"

#include <utility>

namespace forebay {

Status RankMailbox::on(const PeerUp&, Context&) {
  parts_.inbox.change([](RankInbox& inbox) { inbox.is_connected = true; });
  return {};
}

Status RankMailbox::on(const PeerDown& down, Context&) {
  const bool is_over = parts_.inbox.change([](RankInbox& inbox) {
    inbox.is_connected = false;
    return inbox.over;
  });
  const std::string& why = down.reason.message;
  if (!is_over) break_off("rank 0 was lost (" + (why.empty() ? "gone" : why) + ")");
  parts_.served.lose();
  return {};
}

Result<RankHello> RankMailbox::on(const RankCall& call, Context&) {
  parts_.inbox.change([&](RankInbox& inbox) { inbox.leader = call.leader; });
  const RankOptions& options = parts_.options;
  return RankHello{static_cast<std::uint64_t>(options.rank), options.group, options.alike};
}

// The model's thread answers.
Result<RankDone> RankMailbox::on(RankCommand&& command, std::unique_ptr<Replier<RankDone>>& replier,
                                 Context&) {
  const Status ended = command.ended;
  if (command.kind == RankCommand::Kind::kAccept) features_ = command.schema.sparse.size();
  parts_.inbox.change([&](RankInbox& inbox) {
    inbox.over = command.kind == RankCommand::Kind::kEnd;
    inbox.orders.push_back({std::move(command), std::move(replier)});
  });
  if (!ended) break_off(ended.error().message);
  return RankDone{};
}

Status RankMailbox::on(BatchSlice&& slice, Context&) {
  parts_.inbox.change([&](RankInbox& inbox) {
    const std::uint64_t number = slice.number;
    inbox.slices.insert_or_assign(number, std::move(slice));
  });
  return {};
}

Status RankMailbox::on(const BatchIds& ids, Context&) {
  auto batch = unpack_ids(ids, parts_.options.batch_size, features_, parts_.buffers);
  if (batch) {
    pass_on(std::move(*batch));
    parts_.inbox.change([&](RankInbox& inbox) { inbox.ids_until = ids.number + 1; });
  } else {
    break_off(batch.error().message);
  }
  return {};
}

Status RankMailbox::on(const ForgetIds&, Context&) {
  pass_on(nullptr);
  return {};
}

// Called without the lock: a model that cancels prefetches may wait for those in progress.
void RankMailbox::pass_on(std::shared_ptr<const Batch> ids) {
  const RankInbox::OnIds to = parts_.inbox.change([&](RankInbox& inbox) {
    if (!inbox.on_ids) inbox.early_ids.push_back(ids);
    return inbox.on_ids;
  });
  if (to) to(std::move(ids));
}

void RankMailbox::break_off(const std::string& why) {
  Collective* ranks = parts_.inbox.change([&](RankInbox& inbox) {
    if (inbox.broken.empty()) inbox.broken = why;
    return inbox.ranks;
  });
  if (ranks != nullptr) ranks->abandon(why);
}

}  // namespace forebay
