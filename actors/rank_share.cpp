#include "actors/rank_share.h"

namespace forebay {

std::optional<std::size_t> PartialRows::place_of(const RowRange& rows) const {
  std::size_t before = 0;
  for (const RowRange& range : ranges) {
    if (range.contains(rows)) return before + rows.begin - range.begin;
    before += range.size();
  }
  return std::nullopt;
}

}  // namespace forebay
