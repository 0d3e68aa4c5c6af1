#include "actors/format/criteo_tsv.h"
#include "actors/format/csv.h"
#include "actors/format/format.h"

namespace forebay {

Result<std::unique_ptr<Format>> open_format(const DatasetSpec& dataset, const ColumnSpec& columns,
                                            std::span<const char> head) {
  if (dataset.format == "criteo_tsv") {
    auto level = chosen_cpu_level();
    if (!level) return pass(level);
    return open_criteo_tsv(dataset, columns, *level);
  }
  if (dataset.format == "csv") return open_csv(dataset, columns, head);
  return fail(Code::kInvalid, "dataset.format: \"" + dataset.format +
                                  "\" is not a format; those there are: criteo_tsv, csv");
}

}  // namespace forebay
