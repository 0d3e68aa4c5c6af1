#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The store at which ranks meet, and the timeout with which one waits for another.
struct CollectiveSpec {
  int rank = 0;
  int size = 1;
  std::string host = "127.0.0.1";  ///< Of the store, which all ranks can reach.
  std::uint16_t port = 0;
  bool opens_store = false;  ///< This rank serves the store; else another process does.
  std::string group = "";    ///< Names this start of the ranks in a store that outlives it.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  ///< Of each operation.
  std::string device = "cpu";  ///< As TrainerSpec::device; its kind selects the transport.
};

/// The collective operations of R trainers, the ranks 0 … R - 1.
///
/// Each operation is begun by every rank, in the same order, by one thread. Several may be in
/// flight. The memory passed in must stay valid until wait() returned. If a rank does not take part
/// in an operation, the operation fails on the others after a deadline, or as soon as the
/// connection breaks; the error names the rank if it is known. After an error no further operation
/// can succeed.
class Collective {
 public:
  /// An operation that was begun. Its destructor waits as well.
  class Pending {
   public:
    virtual ~Pending() = default;
    /// Blocks until the operation ended. Call it once.
    virtual Status wait() = 0;
  };
  using Handle = std::unique_ptr<Pending>;

  virtual ~Collective() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Replaces each value by its sum over the ranks: the same bits on all of them.
  virtual Handle start_all_reduce(std::span<float> values) = 0;

  /// The bytes that a rank sends to and receives from each rank, itself included, in rank order.
  struct Exchange {
    std::span<const std::byte> send;
    std::span<const std::size_t> send_bytes;  ///< Per rank; they add up to the size of `send`.
    std::span<std::byte> receive;
    std::span<const std::size_t> receive_bytes;  ///< Per rank; what that rank sends to this one.
  };
  virtual Handle start_all_to_all(const Exchange& exchange) = 0;

  /// Copies `bytes` from rank `root` to all ranks; the size must be the same on all.
  virtual Status broadcast(std::span<std::byte> bytes, int root) = 0;

  /// Reports that a rank is lost: all waiting and all future operations fail with kUnavailable and
  /// the first `why`. The memory of begun operations may still be written to, so it must stay valid
  /// until the process ends. Any thread.
  virtual void abandon(const std::string& why) = 0;
};

/// Sends sent[rank] to each rank; returns what each rank has sent to this one.
template <class T>
Result<std::vector<T>> exchange_each(Collective& collective, const std::vector<T>& sent) {
  std::vector<T> received(sent.size());
  const std::vector<std::size_t> each(sent.size(), sizeof(T));
  auto done = collective
                  .start_all_to_all({std::as_bytes(std::span(sent)), each,
                                     std::as_writable_bytes(std::span(received)), each})
                  ->wait();
  if (!done) return pass(done);
  return received;
}

/// The sum of every rank's `value`, added in rank order.
Result<double> sum_over_ranks(Collective& collective, double value);

/// Returns the text of every rank, in rank order. Fails for a text of more than `most` bytes.
Result<std::vector<std::string>> all_gather(Collective& collective, const std::string& text,
                                            std::size_t most = std::size_t{1} << 20);

/// The store at MASTER_ADDR:MASTER_PORT through which ranks find each other: short texts by name.
///
/// Rank 0 or a launcher serves it. One thread at a time. Fails with kUnavailable if the serving
/// process has ended.
class RankStore {
 public:
  virtual ~RankStore() = default;

  virtual Status put(const std::string& name, const std::string& text) = 0;

  /// Returns the text, or nothing if no rank has put it yet. Does not wait.
  virtual Result<std::optional<std::string>> find(const std::string& name) = 0;

  /// Connects each rank to all others. Every rank calls it; it returns when all have called it, or
  /// fails after the timeout of the CollectiveSpec. It cannot be cancelled.
  virtual Result<std::unique_ptr<Collective>> connect() = 0;
};

}  // namespace forebay
