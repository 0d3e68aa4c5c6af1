#include "actors/format/parquet/encoding/bit_unpack.h"

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

TEST_CASE("numbers of every width are unpacked alike with every instruction set", "[parquet]") {
  if (best_cpu_level() == CpuLevel::kBaseline) return;
  for (unsigned width = 0; width <= 32; ++width) {
    for (const std::size_t count : {8U, 16U, 1000U}) {
      std::string packed(count / 8 * width + kUnpackSlack, '\0');
      for (std::size_t i = 0; i < packed.size(); ++i)
        packed[i] = static_cast<char>(mix64(width, i));
      std::vector<std::uint32_t> portable(count);
      std::vector<std::uint32_t> fast(count);
      unpack_bits(packed.data(), width, count, portable.data());
      unpack_bits_for(CpuLevel::kAvx2)(packed.data(), width, count, fast.data());
      CHECK(portable == fast);
    }
  }
}

TEST_CASE("packed numbers begin at the lowest bit", "[parquet]") {
  // 0 to 7 in three bits each: the example of Encodings.md.
  const std::string packed = "\x88\xc6\xfa" + std::string(kUnpackSlack, '\xff');
  std::vector<std::uint32_t> numbers(8);
  unpack_bits(packed.data(), 3, 8, numbers.data());
  CHECK(numbers == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

}  // namespace
}  // namespace forebay::parquet
