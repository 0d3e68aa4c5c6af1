#include "actors/output/delta_writer.h"

#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/parquet/encoding/bit_unpack.h"
#include "actors/format/parquet/encoding/delta_reader.h"
#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

TEST_CASE("differences are written as in the example of the format's specification",
          "[actors][output]") {
  // Encodings.md, "Example 2": 7 5 3 1 2 3 4 5; the differences -2 -2 -2 1 1 1 1 above -2 take two
  // bits: 0 0 0 3 3 3 3.
  std::string out;
  REQUIRE(write_delta(std::vector<std::uint64_t>{7, 5, 3, 1, 2, 3, 4, 5}, out));
  const std::string head("\x80\x01\x04\x08\x0e\x03\x02\x00\x00\x00", 10);
  CHECK(out.substr(0, 10) == head);
  CHECK(out.substr(10) == std::string("\xc0\x3f\x00\x00\x00\x00\x00\x00", 8));
}

TEST_CASE("written differences are read again, or refused", "[actors][output]") {
  Random random(5);
  for (const std::size_t count : {0U, 1U, 2U, 32U, 33U, 129U, 130U, 8192U}) {
    for (unsigned width = 1; width <= 64; ++width) {
      std::vector<std::uint64_t> numbers(count);
      for (std::uint64_t& number : numbers) {
        number = (random.next() >> (64 - width)) - (std::uint64_t{1} << 20);
      }
      std::string bytes = "x";
      const bool done = write_delta(numbers, bytes);
      if (width <= 47) REQUIRE(done);  // a difference takes a bit more
      if (width >= 52 && count > 100) REQUIRE_FALSE(done);
      if (!done) continue;
      const std::size_t size = bytes.size();
      bytes.append(kUnpackSlack + 1, '\x7f');
      std::vector<std::int64_t> again;
      DeltaReader reader({bytes.data() + 1, size - 1});
      REQUIRE(reader.read(count, again));
      REQUIRE(reader.end_of_numbers() == bytes.data() + size);
      REQUIRE(std::vector<std::uint64_t>(again.begin(), again.end()) == numbers);
    }
  }
}

}  // namespace
}  // namespace forebay::parquet
