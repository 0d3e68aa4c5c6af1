#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/report/json_object.h"

namespace forebay {

/// The result of one check, and what to do if there is a problem.
struct Finding {
  enum class Verdict : std::uint8_t { kOk, kWarn, kBad };

  std::string name;  ///< `memory`
  Verdict verdict = Verdict::kOk;
  std::string what;         ///< `8 GiB wanted, 3.1 GiB available`
  std::string advice = {};  ///< `lower pipeline.memory`; may be part of `what` instead.

  static Finding ok(std::string name, std::string what) {
    return {std::move(name), Verdict::kOk, std::move(what)};
  }
  static Finding warn(std::string name, std::string what, std::string advice) {
    return {std::move(name), Verdict::kWarn, std::move(what), std::move(advice)};
  }
  /// An error's message says what to do.
  static Finding bad(std::string name, const Error& error) {
    return {std::move(name), Verdict::kBad, error.message};
  }
};

/// Returns `warn  memory: 8 GiB wanted, 3.1 GiB available — lower pipeline.memory`
std::string to_line(const Finding& check);

/// Returns an object with `name`, `status` (ok, warn, bad) and `message`.
JsonObject to_json(const Finding& check);

std::size_t count_bad(const std::vector<Finding>& checks);

}  // namespace forebay
