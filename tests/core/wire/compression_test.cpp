#include "core/wire/compression.h"

#include <cstring>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using Bytes = std::vector<std::byte>;

struct Memory {
  MemoryBudget budget{std::size_t{1} << 30};
  BufferPool pool{budget};
};

Bytes dull_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i % 7);
  return bytes;
}

TEST_CASE("compressed bytes decompress to the original", "[core][compression]") {
  Memory memory;
  const Compression way = GENERATE(Compression::kLz4, Compression::kZstd);
  for (const std::size_t size : {100UL, 5000UL, 1'000'000UL}) {
    const Bytes bytes = dull_bytes(size);
    const Buffer squeezed = compressed(bytes, way, memory.pool);
    REQUIRE(squeezed);
    CHECK(squeezed.size() < size);
    const auto back = decompressed({squeezed.data(), squeezed.size()}, way, size, memory.pool);
    REQUIRE(back);
    CHECK(std::memcmp(back->data(), bytes.data(), size) == 0);
  }
}

TEST_CASE("bytes that do not shrink are sent uncompressed", "[core][compression]") {
  Memory memory;
  Random random(1);
  Bytes noise(1000);
  for (auto& byte : noise) byte = static_cast<std::byte>(random.next());
  CHECK_FALSE(compressed(noise, Compression::kLz4, memory.pool));
  CHECK_FALSE(compressed(noise, Compression::kZstd, memory.pool));
  CHECK_FALSE(compressed({}, Compression::kZstd, memory.pool));
  CHECK_FALSE(compressed(dull_bytes(1000), Compression::kNone, memory.pool));
}

TEST_CASE("compressed bytes that are invalid or give another size are refused",
          "[core][compression]") {
  Memory memory;
  const Compression way = GENERATE(Compression::kLz4, Compression::kZstd);
  const Bytes bytes = dull_bytes(5000);
  const Buffer squeezed = compressed(bytes, way, memory.pool);
  const std::span<const std::byte> sent(squeezed.data(), squeezed.size());
  CHECK_FALSE(decompressed(sent, way, 4999, memory.pool));
  CHECK_FALSE(decompressed(sent, way, 5001, memory.pool));
  CHECK_FALSE(decompressed(sent.first(sent.size() - 1), way, 5000, memory.pool));
  CHECK_FALSE(decompressed({}, way, 5000, memory.pool));
  CHECK_FALSE(decompressed(sent, Compression{7}, 5000, memory.pool));
}

constexpr CompressionChoice::Trials kTrials{
    {.ratio = 0.7, .compress_rate = 500e6, .restore_rate = 2e9},
    {.ratio = 0.5, .compress_rate = 200e6, .restore_rate = 800e6}};

LinkLoad load_of(double link, double make) {
  return {.link_rate = link, .make_rate = make, .cpus = 4, .receiver_cpus = 1};
}

TEST_CASE("a way's rate is the least of link, node and receiver", "[core][compression]") {
  // Link: 100 / 0.7 = 142.9. Node: 4 CPUs make 400, a byte costs 4/400 + 1/500 = 0.012 us: 333.3.
  CHECK(CompressionChoice::rate(Compression::kLz4, kTrials.lz4, load_of(100e6, 400e6)) ==
        Approx(142.857e6));
  // The link carries 1000 / 0.7; the node's 333.3 are the least.
  CHECK(CompressionChoice::rate(Compression::kLz4, kTrials.lz4, load_of(1000e6, 400e6)) ==
        Approx(333.333e6));
  // 4 / (4/8000 + 1/500) = 1600 of the node, 2000 / 0.7 of the link, 1000 of half a receiver's CPU.
  LinkLoad load = load_of(2000e6, 8000e6);
  load.receiver_cpus = 0.5;
  CHECK(CompressionChoice::rate(Compression::kLz4, kTrials.lz4, load) == Approx(1000e6));
}

TEST_CASE("columns are compressed when the link is the bottleneck, at the level that pays",
          "[core][compression]") {
  CompressionChoice choice;
  CHECK(choice.current() == Compression::kNone);
  // The link carries all that is made: 400 of 1000.
  CHECK(choice.decide(load_of(1000e6, 400e6), kTrials) == Compression::kNone);
  // None 100; lz4 142.9; zstd 100 / 0.5 = 200, and 4 / (0.01 + 0.005) = 266.7 of the node: 200.
  CHECK(choice.decide(load_of(100e6, 400e6), kTrials) == Compression::kZstd);
  CHECK(
      choice.why() ==
      "plain columns would arrive with 100 MB/s, by lz4 with 143 MB/s, by zstd with 200 MB/s; the "
      "link carries 100 MB/s");
  // The link is wider: none 300; lz4 min(428.6, 333.3); zstd min(600, 266.7). zstd gives the least.
  CompressionChoice other;
  CHECK(other.decide(load_of(300e6, 400e6), kTrials) == Compression::kLz4);
  CHECK(choice.decide(load_of(300e6, 400e6), kTrials) == Compression::kLz4);
}

TEST_CASE("a choice changes only for a gain of a tenth", "[core][compression]") {
  // lz4 brings min(link / 0.7, 333.3). Of a link of 310 that is 333.3, 1.075 of none.
  CompressionChoice choice;
  CHECK(choice.decide(load_of(310e6, 400e6), kTrials) == Compression::kNone);
  // Of 300 it is 1.11.
  CHECK(choice.decide(load_of(300e6, 400e6), kTrials) == Compression::kLz4);
  CHECK(choice.decide(load_of(310e6, 400e6), kTrials) == Compression::kLz4);
  // With 340 no compression is fastest.
  CHECK(choice.decide(load_of(340e6, 400e6), kTrials) == Compression::kNone);
}

TEST_CASE("without measurements nothing is compressed", "[core][compression]") {
  CompressionChoice choice;
  CHECK(choice.decide({}, {}) == Compression::kNone);
}

/// Each look at the clock takes a millisecond.
class StepClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return now_ += std::chrono::milliseconds(1); }

 private:
  mutable std::chrono::nanoseconds now_{};
};

TEST_CASE("a trial measures ratio and rates of a sample", "[core][compression]") {
  Memory memory;
  const StepClock clock;
  const auto trial = try_compression(dull_bytes(1'000'000), Compression::kLz4, memory.pool, clock);
  CHECK(trial.ratio < 0.1);
  CHECK(trial.ratio > 0);
  // A million bytes in a millisecond.
  CHECK(trial.compress_rate == Approx(1e9));
  CHECK(trial.restore_rate == Approx(1e9));
  CHECK(try_compression({}, Compression::kLz4, memory.pool, clock).ratio == 1);
}

}  // namespace
}  // namespace forebay
