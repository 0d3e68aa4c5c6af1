#include "core/data/column_set.h"

namespace forebay {

std::size_t ColumnSet::bytes() const {
  std::size_t total = packed ? packed->held_bytes : 0;
  for (const Buffer& slab : slabs) total += slab.size();
  return total;
}

}  // namespace forebay
