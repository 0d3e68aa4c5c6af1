#include <algorithm>
#include <string>

#include "actors/source/index/block_builder.h"
#include "core/base/crc32c.h"
#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string lines(Random& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text.append(random.below(300), static_cast<char>('a' + random.below(26))).append(1, '\n');
  }
  return text;
}

/// Adds a row to the builder only after the row's end, like a real scanner.
class LateScanner {
 public:
  void scan(std::span<const char> piece, BlockBuilder& builder) {
    for (const char letter : piece) {
      ++offset_;
      if (letter != '\n') continue;
      builder.add_row(begin_, ++line_);
      begin_ = offset_;
    }
  }

 private:
  std::uint64_t offset_ = 0;
  std::uint64_t begin_ = 0;
  std::uint64_t line_ = 0;
};

TEST_CASE("a block's check covers all content before it, for any cut of the content",
          "[actors][source]") {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    Random random(seed);
    const std::string text = lines(random, 400);
    BlockBuilder builder;
    BlockChecks checks;
    LateScanner scanner;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random.below(2000), text.size() - at);
      const auto piece = std::span<const char>(text).subspan(at, size);
      scanner.scan(piece, builder);
      checks.scanned(piece, builder);
      if (random.below(10) == 0) builder.coarsen(2 * builder.slot_bytes());
      at += size;
    }
    CHECK(checks.finish(builder) == crc32c(text));
    for (const Block& block : builder.blocks()) {
      CHECK(block.check == crc32c(std::span<const char>(text).first(block.offset)));
    }
  }
}

}  // namespace
}  // namespace forebay
