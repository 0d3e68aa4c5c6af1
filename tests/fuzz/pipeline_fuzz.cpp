#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/check.h"
#include "engine/modelled/pipeline_file.h"
#include "tuner/allocation.h"

/// An accepted pipeline must read back the same when written, and its description must be
/// computable.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model =
      forebay::parse_pipeline({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (!model) {
    FOREBAY_CHECK(!model.error().message.empty());
    return 0;
  }
  const forebay::tuner::PipelineDescription description = forebay::tuner::description_of(*model);
  forebay::tuner::Allocation least = forebay::tuner::one_each(description);
  least.prefetch = 1;
  FOREBAY_CHECK(forebay::tuner::worst_case_bytes(description, least) <= model->memory_bytes);
  const std::string text = forebay::pipeline_text(*model);
  const auto again = forebay::parse_pipeline(text, "fuzz.toml");
  FOREBAY_CHECK(again && forebay::pipeline_text(*again) == text);
  return 0;
}
