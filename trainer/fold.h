#pragma once

#include <cstdint>

namespace forebay {

/// Returns the key of an id in a table of `rows` rows: its positive modulus; 0 rows: the id itself.
inline std::int64_t fold(std::int64_t id, std::int64_t rows) {
  if (rows == 0) return id;
  if ((rows & (rows - 1)) == 0) return id & (rows - 1);
  if (id >= 0 && id < rows) return id;
  const std::int64_t rest = id % rows;
  return rest < 0 ? rest + rows : rest;
}

}  // namespace forebay
