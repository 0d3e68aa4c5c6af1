#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actors/format/npy/arrays.h"
#include "actors/format/npy/npy_format.h"
#include "actors/format/npy/trio_files.h"
#include "core/base/check.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/npy_files.h"

namespace {

using namespace forebay;

constexpr std::size_t kRows = 3;

// Decodes all units of the trio, as they are and with bytes of the input in their place.
void decode(const UnitFormat& format, const InputFile& file, std::string_view input) {
  const auto opened = format.open(file);
  if (!opened) return;
  MemoryBudget budget(1 << 30);
  BufferPool pool(budget);
  std::uint64_t first = 0;
  std::uint64_t number = 0;
  for (const Unit& unit : (*opened)->units()) {
    const UnitRead read = (*opened)->read_of(number);
    FOREBAY_CHECK(read.bytes() == unit.bytes);
    std::string bytes(read.head.begin(), read.head.end());
    for (const FileRange& range : read.ranges) {
      std::string piece(range.bytes, '\0');
      FOREBAY_CHECK(file.read(range.offset, piece));
      bytes += piece;
    }
    for (const bool is_changed : {false, true}) {
      if (is_changed) input.copy(bytes.data(), bytes.size());
      RawSplit raw;
      raw.bytes = pool.take(bytes.size());
      std::memcpy(raw.bytes.data(), bytes.data(), bytes.size());
      raw.blocks.push_back({.rows = unit.rows,
                            .offset = first,
                            .bytes = unit.bytes,
                            .line = number,
                            .decoded = unit.decoded});
      raw.sizes.push_back(bytes.size());
      const Decoded decoded = format.decode(raw, {.filter = {}, .keep_origins = true}, pool);
      FOREBAY_CHECK(decoded.miscounted || decoded.damaged ||
                    decoded.columns.rows + decoded.bad.size() == unit.rows);
      FOREBAY_CHECK(is_changed || !decoded.miscounted);
      FOREBAY_CHECK(is_changed || decoded.columns.bytes() <= unit.decoded);
    }
    first += unit.rows;
    ++number;
  }
}

}  // namespace

/// The input is one file of a trio, a .npy or a .npz; the others are sound and have three rows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const std::string name :
       {"_dense.npy", "_sparse.npy", "_labels.npy", "_sparse_multi_hot.npz"}) {
    const auto files = std::make_shared<test::MemoryFileSystem>();
    const bool is_many = name.ends_with(".npz");
    files->write("m_dense.npy", test::npy_of<float>("<f4", kRows, {1, 2, 3}));
    if (!is_many) files->write("m_sparse.npy", test::npy_of<std::int32_t>("<i4", kRows, {1, 2, 3}));
    files->write("m_labels.npy", test::npy_of<std::int32_t>("<i4", kRows, {1, 0, 1}));
    files->write("m" + name, std::string(input));
    const auto alone = npy::read_arrays(**files->open("m" + name));
    for (const npy::Array& array : alone ? *alone : std::vector<npy::Array>{}) {
      FOREBAY_CHECK(array.values <= size);
      FOREBAY_CHECK(array.header.rows * array.header.row_bytes() <= size - array.values);
    }
    const auto trio = npy::trios_in(files)->open("m" + name);
    FOREBAY_CHECK(trio);
    const auto format = open_npy({}, {}, **trio);
    if (format) decode(**format, **trio, input);
  }
  return 0;
}
