#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/input/store/protocol/response_head.h"
#include "actors/input/store/transfer/pace.h"
#include "actors/input/store/transfer/range_plan.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// The answer to a request that is not a range of a file.
struct Reply {
  ResponseHead head;
  std::string body;
};

/// A range of a file's known version.
struct RangeOf {
  PlannedRange range;
  StoredVersion version;
};

/// One thing to get of a store, and how far it is: a range of a file, whose bytes go to the memory
/// of those who want them, or a small answer as a whole. The attempts at it (at most two at a time)
/// share what has arrived. Knows nothing of sockets; belongs to the loop's thread.
class Fetch {
 public:
  using Time = std::chrono::nanoseconds;

  Fetch(std::shared_ptr<const Target> target, std::string method, std::optional<RangeOf> range);

  /// One request for it.
  struct Attempt {
    ResponseHead head;
    std::string body;            ///< Of a refusal, or of an answer that is no range.
    std::optional<Error> error;  ///< Why the answer is of no use; ends the fetch.
    std::uint64_t first = 0;     ///< Of a range: the first byte it asks for.
    std::uint64_t at = 0;        ///< Of a range: where its next byte belongs.
    bool checked = false;        ///< The head was.
    Time last_progress{0};
    Time longest_wait{0};

    void progress(Time now);
  };

  const Target& target() const { return *target_; }
  const std::string& method() const { return method_; }
  bool is_range() const { return range_.has_value(); }
  PlannedRange& range() { return range_->range; }

  /// Returns an attempt at what is missing.
  Attempt begin(Time now) const;
  /// Returns the headers of the attempt, without a signature.
  Headers headers(const Attempt& attempt) const;
  /// Takes bytes of an answer's body; false: no more of this answer is of use.
  bool take(Attempt& attempt, std::span<const char> bytes);
  /// Whether every byte of the range has arrived.
  bool is_full() const { return is_range() && filled_ == range_->range.bytes; }
  std::uint64_t filled() const { return filled_; }

  std::function<void(Result<Reply>)> done;  ///< Called once, by the loop's thread.
  Backoff backoff;
  Time retry_at{0};  ///< When the next attempt may begin.
  std::optional<Time>
      last_byte;          ///< When the last byte arrived or, before it, the first attempt began.
  std::size_t tries = 0;  ///< Attempts begun since last_byte.
  bool urgent = false;    ///< Somebody waits for this one alone.
  Headers more_headers;   ///< Of a request that is no range.
  bool needs_head_only = false;  ///< The body of a good answer is not read.
  bool hedged = false;
  std::size_t attempts = 0;  ///< Under way.

 private:
  bool check(Attempt& attempt) const;
  void deliver(Attempt& attempt, std::span<const char> bytes);
  void copy(std::uint64_t offset, std::span<const char> bytes);

  std::shared_ptr<const Target> target_;
  std::string method_;
  std::optional<RangeOf> range_;
  std::uint64_t filled_ = 0;  // bytes from the start of the range
  std::size_t piece_ = 0;     // the first wanted piece that is not yet full
};

}  // namespace forebay
