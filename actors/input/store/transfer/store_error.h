#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "actors/input/store/protocol/response_head.h"
#include "actors/input/store/transfer/target.h"
#include "core/base/result.h"

namespace forebay {

/// Describes an answer: `HTTP 503 SlowDown: Please reduce your request rate`.
std::string describe_answer(const ResponseHead& head, std::string_view body);

/// Whether the same request may have another answer later: 408, 429, 500, 502, 503, 504, and S3's
/// RequestTimeout and SlowDown.
bool is_worth_repeating(const ResponseHead& head, std::string_view body);

/// What a person can do about a store that gave such answers for too long: `; lower ...`.
std::string advice_on_trouble(const ResponseHead& head, std::string_view body);

/// Returns the error for an answer of 300 or more that no repetition can change, for a person who
/// has to correct something: no such file or bucket (kNotFound), denied, another region, clocks
/// that differ (kInvalid).
Error refusal_error(const Target& target, const ResponseHead& head, std::string_view body);

/// Like refusal_error(), for a range of a file that was there when it was opened: what is gone or
/// has another version has changed (kCorrupt).
Error range_refusal_error(const Target& target, const ResponseHead& head, std::string_view body);

}  // namespace forebay
