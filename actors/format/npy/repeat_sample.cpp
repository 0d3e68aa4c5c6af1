#include "actors/format/npy/repeat_sample.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace forebay::npy {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostRows = 10'000;

/// The values of a column in memory.
struct SampledColumn {
  const char* first;
  std::size_t stride;
  std::size_t bytes;  // of a value

  RepeatSample compare(std::uint64_t rows) const {
    RepeatSample sample{.rows = rows, .different = 1};
    const char* value = first;
    for (std::uint64_t row = 1; row < rows; ++row, value += stride) {
      sample.different += std::memcmp(value, value + stride, bytes) != 0 ? 1 : 0;
    }
    return sample;
  }
};

}  // namespace

Result<std::vector<RepeatSample>> sample_repeats(const InputFile& file, const Array& array) {
  const ArrayHeader& header = array.header;
  std::vector<RepeatSample> samples(header.columns);
  if (header.rows == 0 || header.columns == 0) return samples;
  const std::uint64_t rows = std::min({header.rows, kMostRows, kMostBytes / header.row_bytes()});
  const std::size_t width = header.type.bytes;
  std::vector<char> bytes(rows * header.row_bytes());
  const std::size_t reads = header.by_column ? header.columns : 1;
  const std::size_t each = bytes.size() / reads;
  std::vector<ReadRange> ranges;
  ranges.reserve(reads);
  for (std::size_t i = 0; i < reads; ++i) {
    ranges.push_back(
        {array.values + i * header.rows * width, std::span(bytes).subspan(i * each, each)});
  }
  if (auto read = file.begin_read(ranges)->wait(); !read) return pass(read);
  for (std::size_t column = 0; column < samples.size(); ++column) {
    const SampledColumn values =
        header.by_column ? SampledColumn{bytes.data() + column * each, width, width}
                         : SampledColumn{bytes.data() + column * width, header.row_bytes(), width};
    samples[column] = values.compare(rows);
  }
  return samples;
}

}  // namespace forebay::npy
