#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "trainer/evaluation/evaluation.h"

/// Any bytes as a checkpoint's evaluations.json: accepted values can be judged, and read back to
/// the last bit.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto found = forebay::parse_evaluations({reinterpret_cast<const char*>(data), size});
  if (!found) return 0;
  forebay::TrainerSpec spec;
  spec.early_stopping = 2;
  for (const auto metric :
       {forebay::TrainerSpec::Metric::kAuc, forebay::TrainerSpec::Metric::kLogLoss}) {
    spec.early_stopping_metric = metric;
    FOREBAY_CHECK(judge(spec, *found).without_gain <= found->size());
  }
  FOREBAY_CHECK(forebay::parse_evaluations(to_json(*found)) == *found);
  return 0;
}
