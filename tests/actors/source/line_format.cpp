#include "tests/actors/source/line_format.h"

#include "actors/source/block_builder.h"

namespace forebay {
namespace test {
namespace {

class LineScanner final : public RowScanner {
 public:
  explicit LineScanner(std::uint64_t max_row_bytes) : max_row_bytes_(max_row_bytes) {}

  Status scan(std::span<const char> piece, BlockBuilder& blocks) override {
    for (const char c : piece) {
      if (at_start_) {
        blocks.add_row(offset_, ++line_);
        start_ = offset_;
        at_start_ = false;
      }
      ++offset_;
      if (c == '\n') {
        at_start_ = true;
      } else if (offset_ - start_ > max_row_bytes_) {
        return fail(Code::kCorrupt, "line " + std::to_string(line_) + " is too long");
      }
    }
    return {};
  }
  Status finish(BlockBuilder&) override { return {}; }

 private:
  std::uint64_t max_row_bytes_;
  std::uint64_t offset_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t line_ = 0;
  bool at_start_ = true;
};

class LineFormat final : public Format {
 public:
  LineFormat(std::uint64_t max_row_bytes, char first)
      : max_row_bytes_(max_row_bytes), first_(first) {}

  const Schema& schema() const override { return schema_; }
  std::unique_ptr<RowScanner> scanner() const override {
    return std::make_unique<LineScanner>(max_row_bytes_);
  }
  Status accepts(std::span<const char> head) const override {
    if (head.front() != first_) return fail(Code::kInvalid, "it begins otherwise");
    return {};
  }
  Decoded decode(const RawSplit&, const DecodeOptions&, BufferPool&) const override { return {}; }
  std::size_t decoded_bytes(std::size_t, std::size_t raw_bytes) const override { return raw_bytes; }

 private:
  std::uint64_t max_row_bytes_;
  char first_;
  Schema schema_;
};

}  // namespace

std::unique_ptr<Format> line_format(std::uint64_t max_row_bytes, char first) {
  return std::make_unique<LineFormat>(max_row_bytes, first);
}

}  // namespace test

// Stands in for the real formats, which this test is not linked with.
Result<std::unique_ptr<Format>> open_format(const DatasetSpec& dataset, const ColumnSpec&,
                                            std::span<const char> head) {
  return test::line_format(dataset.max_row_bytes, head.front());
}

}  // namespace forebay
