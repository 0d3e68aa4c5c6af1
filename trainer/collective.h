#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// Where ranks meet, and how long one waits for another.
struct CollectiveSpec {
  int rank = 0;
  int size = 1;
  std::string host = "127.0.0.1";  ///< Of the store that all ranks reach.
  std::uint16_t port = 0;
  bool opens_store = false;  ///< This rank serves it; else somebody else does.
  std::string group = "";    ///< Names this start of the ranks in a store that outlives it.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  ///< Of each operation.
  std::string device = "cpu";  ///< As TrainerSpec::device: its kind says what carries the data.
};

/// What R trainers, the ranks 0 … R - 1, do together.
///
/// Each operation is begun by every rank, in the same order, by one thread. Several may be under
/// way. Memory that is handed in stays until the operation was waited for. An operation that a rank
/// does not take part in fails on the others after a deadline, or as soon as its connection breaks;
/// the error names the rank where that can be known. After an error nothing more can be done
/// together.
class Collective {
 public:
  /// An operation that was begun. Going without `wait` waits, too.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Once.
    virtual Status wait() = 0;
  };
  using Handle = std::unique_ptr<Pending>;

  virtual ~Collective() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Each value becomes its sum over the ranks: the same bits on all of them.
  virtual Handle start_all_reduce(std::span<float> values) = 0;

  /// What a rank sends to and gets from each rank, itself included, in the order of the ranks.
  struct Exchange {
    std::span<const std::byte> send;
    std::span<const std::size_t> send_bytes;  ///< Per rank; together all of `send`.
    std::span<std::byte> receive;
    std::span<const std::size_t> receive_bytes;  ///< Per rank; what that rank sends to this one.
  };
  virtual Handle start_all_to_all(const Exchange& exchange) = 0;

  /// `bytes` becomes what it is on rank `root`; of one size on all.
  virtual Status broadcast(std::span<std::byte> bytes, int root) = 0;

  /// A rank is known to be lost: whoever waits, and whatever is begun from now on, fails with
  /// kUnavailable and `why`, the first one given. What was handed in may still be written to: it
  /// stays until the process ends. Any thread.
  virtual void abandon(const std::string& why) = 0;
};

/// The only rank of one: sums are what they are, what it sends it gets.
std::unique_ptr<Collective> single_collective();

/// Returns when every rank has called it.
Status barrier(Collective& collective);

/// The sum of every rank's `value`, added in the order of the ranks.
Result<double> sum_over_ranks(Collective& collective, double value);

/// What every rank said, in the order of the ranks. At most `most` bytes each; refuses more.
Result<std::vector<std::string>> all_gather(Collective& collective, const std::string& text,
                                            std::size_t most = std::size_t{1} << 20);

}  // namespace forebay
