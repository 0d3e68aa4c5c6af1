#include "actors/transform/row_name.h"

namespace forebay {

std::string row_name(const StepRun& run, std::size_t row) {
  if (run.columns.origins == nullptr || row >= run.columns.rows) {
    return "row " + std::to_string(row) + " of a split";
  }
  const RowOrigin origin = run.columns.origins[row];
  const auto& files = run.context.files;
  const std::string file =
      origin.file() < files.size() ? files[origin.file()] : "file " + std::to_string(origin.file());
  return file + ", row at byte " + std::to_string(origin.offset());
}

}  // namespace forebay
