#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/wire/codec.h"
#include "engine/actors/cluster/libraries/library_fetch.h"
#include "engine/actors/cluster/libraries/library_table.h"
#include "engine/actors/cluster/libraries/node_libraries.h"

namespace {

using namespace forebay;  // NOLINT(google-build-using-namespace)

/// Opens everything, and checks where it is.
struct Libraries final : NodeLibraries {
  const LoadedTypes& types() const override { return loaded; }
  std::vector<LibraryInfo> list() const override { return {}; }
  bool accepts_shipped() const override { return true; }
  Result<LibraryChunk> read(const ReadLibrary&) const override { return LibraryChunk{}; }
  Result<LibraryInfo> open_shipped(const std::string& path) override {
    const std::filesystem::path file(path);
    folder = file.parent_path();
    FOREBAY_CHECK(
        std::filesystem::equivalent(folder.parent_path(), std::filesystem::temp_directory_path()));
    FOREBAY_CHECK(std::filesystem::exists(file));
    return LibraryInfo{};
  }
  LoadedTypes loaded;
  std::filesystem::path folder;  // of the library that was opened; empty: of none
};

/// The head keeps what it accepts of a node, and offers what is shipped to a node that lacks it.
void check_table(const LibraryInfo& library) {
  LibraryTable table;
  if (!table.check("n1", {library})) return;
  table.set("n1", {library}, false);
  table.set("n2", {}, true);
  const auto lacking = table.lacking().at("n2");
  FOREBAY_CHECK(lacking.size() == (library.ships ? 1 : 0));
  FOREBAY_CHECK((table.source(library.digest) != nullptr) == library.ships);
  FOREBAY_CHECK(table.add("n2", library));
  FOREBAY_CHECK(table.lacking().at("n2").empty());
  FOREBAY_CHECK(!table.add("n2", library));
}

/// A node takes a library of `part` only if size and digest are right, and leaves no file.
void check_fetch(const TakeLibrary& take, std::span<const std::byte> part) {
  Libraries libraries;
  LibraryFetch fetch(libraries);
  const bool wanted = fetch.want(take).has_value();
  FOREBAY_CHECK(fetch.ask().has_value() == wanted);
  if (!wanted) return;
  const auto held = std::make_shared<std::vector<std::byte>>(part.begin(), part.end());
  const auto opened = fetch.take(LibraryChunk{{Frame(held, held->data(), held->size())}});
  LibraryDigest digest;
  digest.add(part);
  const bool whole = part.size() == take.library.bytes && digest.hex() == take.library.digest;
  FOREBAY_CHECK(libraries.folder.empty() != whole);
  FOREBAY_CHECK((opened && *opened) == whole);
  FOREBAY_CHECK(!whole || !std::filesystem::exists(libraries.folder));
}

}  // namespace

/// The input: the length of a TakeLibrary (a byte), its bytes, and a part of the library.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] >= size) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  // A copy in memory of its own, so that the sanitizer sees an access outside.
  const std::vector<std::byte> message(bytes.begin(), bytes.begin() + data[0]);
  const auto take = decode_value<TakeLibrary>("a head", message);
  if (!take) {
    FOREBAY_CHECK(take.error().code == Code::kCorrupt);
    return 0;
  }
  check_table(take->library);
  check_fetch(*take, bytes.subspan(data[0]));
  return 0;
}
