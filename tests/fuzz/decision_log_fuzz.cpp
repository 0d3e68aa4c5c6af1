#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tuner/log/decision_log.h"

/// Any bytes as a decision log: reading gives an error, or a log that reads back the same when
/// written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto log = forebay::tuner::parse_decision_log(text, "fuzz");
  if (!log) return 0;
  std::string again = to_line(log->header) + '\n';
  for (const auto& decision : log->decisions) again += to_line(decision) + '\n';
  if (!forebay::tuner::parse_decision_log(again, "again")) std::abort();
  return 0;
}
