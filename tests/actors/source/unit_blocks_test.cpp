#include "actors/source/unit_blocks.h"

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

// A file whose stamp a test may change, as a local file's changes while it is open.
class Stamped final : public InputFile {
 public:
  explicit Stamped(std::shared_ptr<FileStamp> now)
      : InputFile({.path = "a.bin", .absolute = "/a.bin", .key = "a", .stamp = *now}),
        now_(std::move(now)) {}
  Status check(const FileStamp& indexed) const override {
    return *now_ == indexed ? Status{} : Status(changed_since_indexed(path()));
  }
  Result<std::size_t> read_at(std::uint64_t, std::span<char> out) const override {
    if (on_read) on_read();
    return out.size();
  }

  std::function<void()> on_read;

 private:
  std::shared_ptr<FileStamp> now_;
};

// A format that lists any units and loads them as a test says.
class AnyUnits final : public UnitFormat {
 public:
  explicit AnyUnits(std::vector<Unit> units) : units_(std::move(units)) {}

  Result<std::unique_ptr<UnitFile>> open(const InputFile& file) const override {
    if (on_open) on_open();
    return std::make_unique<File>(*this, file);
  }
  const Schema& schema() const override { return schema_; }
  Decoded decode(const RawSplit&, const DecodeOptions&, BufferPool&) const override { return {}; }
  std::string index_settings() const override { return {}; }

  std::function<void()> on_open;
  UnitRead read = {.head = {'a'}, .ranges = {{.offset = 5, .bytes = 2}}};
  Digest content = {.high = 1, .low = 2};

 private:
  class File final : public UnitFile {
   public:
    File(const AnyUnits& format, const InputFile&) : format_(format) {}
    std::vector<Unit> units() const override { return format_.units_; }
    Digest content() const override { return format_.content; }
    UnitRead read_of(std::uint64_t) const override { return format_.read; }

   private:
    const AnyUnits& format_;
  };

  const std::vector<Unit> units_;
  const Schema schema_ = {};
};

std::shared_ptr<FileStamp> stamp() {
  return std::make_shared<FileStamp>(FileStamp{.bytes = 1000, .version = 1});
}

TEST_CASE("the units of a file are numbered by rows", "[actors][source]") {
  const AnyUnits format(std::vector<Unit>{{.bytes = 10, .rows = 3}, {.bytes = 0, .rows = 4}});
  const auto index = index_units(Stamped(stamp()), format);
  REQUIRE(index);
  CHECK(index->has_units());
  CHECK(index->rows == 7);
  CHECK(index->bytes == 1000);
  CHECK(index->units[1].first_row == 3);
  CHECK((index->content == format.content));
  CHECK((parse_index(encode_index(*index)).value() == *index));
}

TEST_CASE("units with numbers that no file can have are refused", "[actors][source]") {
  const auto refusal = [](std::vector<Unit> units) {
    const auto index = index_units(Stamped(stamp()), AnyUnits(std::move(units)));
    REQUIRE_FALSE(index);
    return index.error();
  };
  const std::string damaged = "a.bin: its metadata are damaged: ";
  const std::uint64_t large = (std::uint64_t{1} << 40) + 1;
  CHECK(refusal({{.rows = 1}, {.rows = 0}}) ==
        Error{Code::kCorrupt, damaged + "unit 1 has no rows"});
  CHECK(refusal({{.bytes = large, .rows = 1}}) ==
        Error{Code::kCorrupt, damaged + "unit 0 has 1099511627777 bytes"});
  CHECK(refusal(std::vector<Unit>(257, {.rows = ~std::uint32_t{0}})) ==
        Error{Code::kCorrupt, damaged + "1103806594815 rows"});
  CHECK(refusal(std::vector<Unit>(kMostUnits + 1, {.rows = 1})).code == Code::kInvalid);
  CHECK(index_units(Stamped(stamp()), AnyUnits(std::vector<Unit>(kMostUnits, {.rows = 1}))));
}

TEST_CASE("a file that changes while its metadata are read is not indexed", "[actors][source]") {
  const auto now = stamp();
  AnyUnits format(std::vector<Unit>{{.rows = 1}});
  format.on_open = [&now] { now->version = 2; };
  const auto index = index_units(Stamped(now), format);
  REQUIRE_FALSE(index);
  CHECK(index.error().message == "a.bin changed since it was indexed; run again");
}

TEST_CASE("a file with units is compared with its index before and after each load",
          "[actors][source]") {
  const auto now = stamp();
  AnyUnits format(std::vector<Unit>{{.bytes = 3, .rows = 1}});
  const auto index = index_units(Stamped(now), format);
  REQUIRE(index);
  auto file = std::make_unique<Stamped>(now);
  std::function<void()>& on_read = file->on_read;
  const UnitFiles files;
  const auto units = files.open(0, *file, format, *index);
  REQUIRE(units);
  const auto source = load_units(std::move(file), *units, index->stamp);
  const BlockRef block{.rows = 1, .bytes = 3};
  std::array<char, 4> out{};
  CHECK(source->load(block, out).value() == 3);
  CHECK(out[0] == 'a');
  const Error changed{Code::kCorrupt, "a.bin changed since it was indexed; run again"};

  SECTION("one that changed before") {
    now->version = 2;
    CHECK(source->load(block, out).error() == changed);
  }
  SECTION("one that changes while it is read") {
    on_read = [&now] { now->version = 2; };
    CHECK(source->load(block, out).error() == changed);
  }
  SECTION("one whose unit is larger than it was") {
    format.read.ranges[0].bytes = 3;
    CHECK(source->load(block, out).error() == changed);
  }
  SECTION("one with other metadata is not opened") {
    format.content.low = 3;
    CHECK(files.open(0, Stamped(now), format, *index).has_value());
    CHECK(files.open(1, Stamped(now), format, *index).error() == changed);
  }
}

}  // namespace
}  // namespace forebay
