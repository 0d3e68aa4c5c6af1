#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "trainer/model_description.h"

/// Any bytes as a checkpoint's model.json: an accepted description reads back the same when
/// written, and its sizes can be computed with.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model =
      forebay::parse_model({reinterpret_cast<const char*>(data), size}, "model.json");
  if (!model) {
    FOREBAY_CHECK(!model.error().message.empty());
    return 0;
  }
  FOREBAY_CHECK(model->shape.sparse_names.size() == model->shape.table_rows.size());
  FOREBAY_CHECK(model->shape.dense_names.size() == model->shape.dense_features);
  if (forebay::learns(model->spec.model)) {
    FOREBAY_CHECK(model->shape.dense_parameters() > 0);
    FOREBAY_CHECK(model->shape.table_parameters() / model->shape.row_width() >=
                  model->shape.table_rows.size());
  }
  const std::string text = to_json(*model);
  const auto again = forebay::parse_model(text, "again");
  FOREBAY_CHECK(again && to_json(*again) == text);
  return 0;
}
