#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/check.h"
#include "core/base/text/json_text.h"
#include "core/data/digest.h"
#include "trainer/saving/checkpoint.h"

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void check(const std::string& text) {
  const auto manifest = forebay::parse_manifest(text, "manifest.json");
  if (!manifest) {
    FOREBAY_CHECK(!manifest.error().message.empty());
    return;
  }
  for (const auto& [name, file] : manifest->files) {
    const std::string path = (fs::path("/folder") / name).lexically_normal().string();
    FOREBAY_CHECK(path.starts_with("/folder/") && path.size() > 8);
  }
  FOREBAY_CHECK(forebay::parse_manifest(to_json(*manifest), "again") == *manifest);
}

}  // namespace

/// Any bytes as a checkpoint's manifest, as they are and with the digest that no mutation would get
/// right: an accepted manifest names no file outside of its folder and reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  json told = forebay::parse_json(text);
  if (!told.is_object()) return 0;
  told.erase("digest");
  const std::string rest = forebay::json_text(told);
  told["digest"] = forebay::Digest::of(rest.data(), rest.size()).hex();
  check(forebay::json_text(told));
  return 0;
}
