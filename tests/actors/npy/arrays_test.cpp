#include "actors/format/npy/arrays.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/npy/repeat_sample.h"
#include "actors/format/npy/zip_directory.h"
#include "tests/support/memory_file_system.h"
#include "tests/support/npy_files.h"

#include "tests/support/catch.h"

namespace forebay::npy {
namespace {

using test::npy_of;
using test::ZipWriter;

const std::string kThree = npy_of<std::int32_t>("<i4", 3, {1, 2, 3, 4, 5, 6});

Result<std::vector<Array>> arrays_in(const std::string& content) {
  test::MemoryFileSystem files;
  files.write("memory://a.npz", content);
  const auto file = files.open("memory://a.npz");
  return read_arrays(**file);
}

std::string archive_refusal(const std::string& content) {
  const auto arrays = arrays_in(content);
  REQUIRE_FALSE(arrays);
  return arrays.error().message;
}

std::vector<std::uint64_t> different_in(const std::string& content) {
  test::MemoryFileSystem files;
  files.write("memory://a.npy", content);
  const auto file = files.open("memory://a.npy");
  const auto arrays = read_arrays(**file);
  REQUIRE(arrays);
  const auto samples = sample_repeats(**file, arrays->front());
  REQUIRE(samples);
  std::vector<std::uint64_t> different;
  for (const RepeatSample& sample : *samples) {
    CHECK(sample.rows == std::min<std::uint64_t>(arrays->front().header.rows, 10'000));
    different.push_back(sample.different);
  }
  return different;
}

TEST_CASE("a sample of an array says how often each column's values change", "[npy]") {
  using Counts = std::vector<std::uint64_t>;
  CHECK(different_in(npy_of<std::int32_t>("<i4", 4, {7, 1, 7, 1, 7, 2, 8, 2})) == Counts{2, 2});
  CHECK(different_in(npy_of<std::int32_t>("<i4", 4, {7, 1, 9, 1, 7, 1, 8, 1})) == Counts{4, 1});
  const std::string by_column =
      test::npy_header("{'descr': '<i4', 'fortran_order': True, 'shape': (3, 2), }");
  CHECK(different_in(by_column + test::bytes_of_all<std::int32_t>({5, 5, 6, 1, 2, 1})) ==
        Counts{2, 3});
  CHECK(different_in(npy_of<std::int32_t>("<i4", 0, {})).size() < 2);
  CHECK(different_in(npy_of<std::int8_t>("|i1", 20'000, std::vector<std::int8_t>(20'000))) ==
        Counts{1});
}

TEST_CASE("a .npy has one array without a key", "[npy]") {
  const auto arrays = arrays_in(kThree);
  REQUIRE(arrays);
  REQUIRE(arrays->size() == 1);
  CHECK(arrays->front().key.empty());
  CHECK(arrays->front().header.columns == 2);
  CHECK(arrays->front().values == kThree.size() - 24);
}

TEST_CASE("the arrays of a .npz lie in it as they are", "[npy]") {
  for (const bool zip64 : {false, true}) {
    ZipWriter zip;
    zip.add({.name = "0.npy", .content = kThree, .zip64 = zip64});
    zip.add({.name = "1.npy", .content = npy_of<std::int64_t>("<i8", 1, {7}), .zip64 = zip64});
    for (const char* comment : {"", "PK\5\6 and more text behind it"}) {
      const std::string content = zip.finish(zip64, comment);
      const auto arrays = arrays_in(content);
      REQUIRE(arrays);
      REQUIRE(arrays->size() == 2);
      CHECK((*arrays)[0].key == "0");
      CHECK(content.substr((*arrays)[0].values, 24) == kThree.substr(kThree.size() - 24));
      CHECK((*arrays)[1].key == "1");
      CHECK(content.substr((*arrays)[1].values, 8) == test::bytes_of(std::int64_t{7}));
    }
  }
  CHECK(arrays_in(ZipWriter().finish())->empty());
}

TEST_CASE("a .npz whose entries cannot be read by place is refused by name", "[npy]") {
  ZipWriter packed;
  packed.add({.name = "0.npy", .content = kThree, .method = 8});
  CHECK_THAT(archive_refusal(packed.finish()),
             Catch::StartsWith("memory://a.npz: \"0.npy\" is compressed") &&
                 Catch::Contains("np.savez, not np.savez_compressed"));
  ZipWriter locked;
  locked.add({.name = "0.npy", .content = kThree, .flags = 1});
  CHECK_THAT(archive_refusal(locked.finish()), Catch::Contains("\"0.npy\" is encrypted"));
  ZipWriter other;
  other.add({.name = "README", .content = "text"});
  CHECK_THAT(archive_refusal(other.finish()), Catch::Contains("\"README\", which is no array"));
  ZipWriter twice;
  twice.add({.name = "0.npy", .content = kThree});
  twice.add({.name = "0.npy", .content = kThree});
  CHECK_THAT(archive_refusal(twice.finish()), Catch::Contains("two arrays \"0\""));
  ZipWriter text;
  text.add({.name = "0.npy", .content = "no array"});
  CHECK_THAT(archive_refusal(text.finish()), Catch::Contains("array \"0.npy\": no .npy array"));
}

TEST_CASE("a damaged zip archive is refused wherever it is cut or changed", "[npy]") {
  ZipWriter zip;
  zip.add({.name = "0.npy", .content = kThree, .zip64 = true});
  zip.add({.name = "1.npy", .content = kThree});
  const std::string content = zip.finish(true);
  for (std::size_t size = 4; size < content.size(); ++size) {
    CHECK_FALSE(arrays_in(content.substr(0, size)));
  }
  // A changed byte may be one that nobody reads, such as a time; it never leads outside the file.
  for (std::size_t i = 0; i < content.size(); ++i) {
    for (const char flip : {'\1', '\x40', '\xff'}) {
      std::string changed = content;
      changed[i] = static_cast<char>(changed[i] ^ flip);
      const auto arrays = arrays_in(changed);
      if (!arrays) continue;
      for (const Array& array : *arrays) {
        CHECK(array.values + array.header.rows * array.header.row_bytes() <= content.size());
      }
    }
  }
}

TEST_CASE("entries of a zip archive that lie over each other are refused", "[npy]") {
  ZipWriter zip;
  zip.add({.name = "0.npy", .content = kThree});
  zip.add({.name = "1.npy", .content = kThree});
  std::string content = zip.finish();
  // The second entry of the directory points to the place of the first.
  const std::size_t second = content.rfind("PK\1\2");
  content.replace(second + 42, 4, std::string(4, '\0'));
  CHECK_THAT(archive_refusal(content), Catch::Contains("lies over its neighbour"));
}

}  // namespace
}  // namespace forebay::npy
