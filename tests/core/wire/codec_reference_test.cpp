#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <msgpack.hpp>

#include "core/base/random.h"
#include "core/wire/codec.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

/// Types that both codecs support; msgpack-c writes the fields as an array, too.
struct Sample {
  std::uint64_t count = 0;
  std::int64_t offset = 0;
  bool flag = false;
  double rate = 0;
  float share = 0;
  std::string name;
  std::vector<std::int32_t> numbers;
  std::map<std::string, std::uint16_t> table;
  static auto fields(auto& self) {
    return std::tie(self.count, self.offset, self.flag, self.rate, self.share, self.name,
                    self.numbers, self.table);
  }
  friend bool operator==(const Sample&, const Sample&) = default;
  MSGPACK_DEFINE(count, offset, flag, rate, share, name, numbers, table);
};

/// Numbers of all widths, not only large ones.
std::uint64_t any_width(Random& random) { return random.next() >> random.below(64); }

Sample any_sample(Random& random) {
  Sample sample;
  sample.count = any_width(random);
  sample.offset = static_cast<std::int64_t>(any_width(random)) * (random.below(2) == 0 ? 1 : -1);
  sample.flag = random.below(2) == 1;
  sample.rate = random.below(2) == 0 ? random.uniform() : static_cast<double>(random.below(1000));
  sample.share = static_cast<float>(random.uniform());
  sample.name = std::string(any_width(random) % 400, 'n');
  for (std::uint32_t i = random.below(40); i > 0; --i) {
    sample.numbers.push_back(static_cast<std::int32_t>(any_width(random)));
    sample.table[std::to_string(random.below(100))] = static_cast<std::uint16_t>(random.next());
  }
  return sample;
}

TEST_CASE("msgpack-c reads the codec's bytes, and the codec reads msgpack-c's", "[core][codec]") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    const Sample sample = any_sample(random);
    WireBuffer ours;
    encode_value(sample, ours);
    const auto read =
        msgpack::unpack(reinterpret_cast<const char*>(ours.bytes().data()), ours.size());
    CHECK(read.get().as<Sample>() == sample);

    msgpack::sbuffer theirs;
    msgpack::pack(theirs, sample);
    const std::span<const char> text(theirs.data(), theirs.size());
    CHECK(decode_value<Sample>("sample", std::as_bytes(text)) == sample);
  }
}

}  // namespace
}  // namespace forebay
