#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.h"
#include "engine/modelled/pipeline_file.h"
#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/world_layout.h"

/// An accepted pipeline must read back the same when written, and its description must be
/// computable.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model =
      forebay::parse_pipeline({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!model) {
    FOREBAY_CHECK(!model.error().message.empty());
    return 0;
  }
  forebay::tuner::Allocation least =
      forebay::tuner::one_each(forebay::tuner::world_description(*model));
  least.prefetch = 1;
  FOREBAY_CHECK(forebay::tuner::fits(*model, least));
  const auto later = forebay::tuner::model_at(*model, 10);
  FOREBAY_CHECK(later.stages.size() == model->stages.size() && later.events.empty());
  const std::string text = forebay::pipeline_text(*model);
  const auto again = forebay::parse_pipeline(text, "fuzz.toml");
  FOREBAY_CHECK(again && forebay::pipeline_text(*again) == text);
  return 0;
}
