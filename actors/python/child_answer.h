#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// The header of each message between a process and the child that runs a function; the payload
/// follows. Both run on one machine, so numbers are as it has them. The other end is
/// python/forebay/_child.py.
struct ChildHeader {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;   ///< Of the payload.
  std::uint64_t number = 0;  ///< Of the request; the answer repeats it.
};

/// Requests. The payload of kConfigure is JSON, that of kCall a list of 64-bit numbers: the rows,
/// the bytes of the shared memory, then where each column lies in it (FunctionProcess).
enum class ChildRequest : std::uint32_t { kConfigure = 1, kCall = 2 };

/// Answers.
enum class AnswerKind : std::uint32_t {
  kReady = 1,    ///< The function is imported.
  kDone = 2,     ///< The results are in shared memory; the payload has the ids of each sparse one.
  kRaised = 3,   ///< The function raised; the payload says what.
  kRefused = 4,  ///< The function returned something else than it should; the payload says what.
  kUnusable = 5  ///< The function cannot be imported; the payload says why.
};

struct ChildAnswer {
  AnswerKind kind = AnswerKind::kReady;
  std::string text = {};                ///< kRaised, kRefused and kUnusable.
  std::vector<std::uint64_t> ids = {};  ///< kDone: of each new sparse column.
};

/// The most bytes of an answer's payload.
inline constexpr std::uint32_t kMostAnswerBytes = 64 << 10;

/// Checks the header of an answer to request `number` before its payload is read: a user's code may
/// write to the channel. Returns kCorrupt if it is none.
Status check_answer_header(const ChildHeader& header, std::uint64_t number);

/// Reads an answer whose header was checked; `most_ids` bounds each number of a kDone. Returns
/// kCorrupt if the payload does not fit its kind. Text is made printable.
Result<ChildAnswer> read_answer(const ChildHeader& header, std::span<const char> payload,
                                std::span<const std::uint64_t> most_ids);

}  // namespace forebay
