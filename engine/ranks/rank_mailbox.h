#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/node/node.h"
#include "core/runtime/actor.h"
#include "core/runtime/synchronized.h"
#include "engine/ranks/rank_messages.h"
#include "engine/ranks/rank_options.h"
#include "engine/ranks/remote_state.h"
#include "trainer/collective.h"

namespace forebay {

/// What rank 0 has sent to a rank, until the rank's model takes it.
struct RankInbox {
  /// A command, and how its result is answered (null: rank 0 did not ask).
  struct Order {
    RankCommand command;
    std::unique_ptr<Replier<RankDone>> answer;
  };
  /// Receives the ids of batches (Model::prefetch); null: drop those of batches without a step.
  using OnIds = std::function<void(std::shared_ptr<const Batch>)>;

  bool is_connected = false;
  LeaderRef leader;  // empty until rank 0 has called
  std::deque<Order> orders;
  std::map<std::uint64_t, BatchSlice> slices;
  OnIds on_ids;
  std::vector<std::shared_ptr<const Batch>> early_ids;  // received before on_ids was set
  std::uint64_t ids_until = 0;                          // one past the last batch with ids
  bool over = false;            // rank 0 has ended the run and may disconnect
  std::string broken;           // why the run ends; "": it goes on
  Collective* ranks = nullptr;  // aborted when `broken` is set
};

/// The actor of every rank but 0: puts rank 0's messages into the inbox, for the model's thread,
/// and notices the loss of rank 0, its only peer.
class RankMailbox final : public ActorOf<RankMailbox, PeerUp, PeerDown, RankCall, RankCommand,
                                         BatchSlice, BatchIds, ForgetIds> {
 public:
  /// All outlive the actor. `served` is the state that rank 0 reads.
  struct Parts {
    const RankOptions& options;
    Synchronized<RankInbox>& inbox;
    ServedState& served;
    BufferPool& buffers;
  };

  explicit RankMailbox(const Parts& parts) : parts_(parts) {}

  Status on(const PeerUp&, Context&);
  Status on(const PeerDown& down, Context&);
  Result<RankHello> on(const RankCall& call, Context&);
  Result<RankDone> on(RankCommand&& command, std::unique_ptr<Replier<RankDone>>& replier, Context&);
  Status on(BatchSlice&& slice, Context&);
  Status on(const BatchIds& ids, Context&);
  Status on(const ForgetIds&, Context&);

 private:
  void pass_on(std::shared_ptr<const Batch> ids);
  void break_off(const std::string& why);

  const Parts parts_;
  std::size_t features_ = 0;  // number of sparse features that rank 0 announced
};

}  // namespace forebay
