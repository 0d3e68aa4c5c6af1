#include "trainer/saving/manifest.h"

#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

using nlohmann::json;

/// Whether the name stays below the folder it is relative to.
bool is_below(const std::string& name) {
  const std::filesystem::path path(name);
  if (name.empty() || name.find('\0') != std::string::npos || path.is_absolute()) return false;
  for (const auto& step : path) {
    if (step.empty() || step == "." || step == "..") return false;
  }
  return true;
}

std::optional<Manifest::File> parse_file(const json& announced) {
  if (!announced.is_object()) return std::nullopt;
  const json bytes = announced.value("bytes", json());
  const json digest = announced.value("digest", json());
  if (!bytes.is_number_unsigned() || !digest.is_string()) return std::nullopt;
  Manifest::File file{.bytes = bytes.get<std::uint64_t>(), .digest = digest.get<std::string>()};
  Digest parsed;
  if (!Digest::parse(file.digest, parsed)) return std::nullopt;
  if (announced.contains("inode")) {
    if (!announced["inode"].is_number_unsigned()) return std::nullopt;
    file.inode = announced["inode"].get<std::uint64_t>();
  }
  return file;
}

/// The digest of a manifest without its own digest field.
std::string digest_of(const json& manifest) {
  const std::string text = json_text(manifest);
  return Digest::of(text.data(), text.size()).hex();
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  json files = json::object();
  for (const auto& [name, file] : manifest.files) {
    json& entry = files[name] = {{"bytes", file.bytes}, {"digest", file.digest}};
    if (file.inode) entry["inode"] = *file.inode;
  }
  json announced = {{"version", Manifest::kVersion}, {"files", std::move(files)}};
  announced["digest"] = digest_of(announced);
  return json_text(announced, 1) + "\n";
}

Result<Manifest> parse_manifest(const std::string& text, const std::string& path) {
  const auto damaged = [&] { return fail(Code::kCorrupt, path + " is damaged"); };
  json announced = parse_json(text);
  if (announced.is_discarded() || !announced.is_object()) return damaged();
  const json digest = announced.value("digest", json());
  announced.erase("digest");
  if (!digest.is_null() && digest != digest_of(announced)) return damaged();
  const json version = announced.value("version", json());
  if (!version.is_number_integer()) return damaged();
  if (version != Manifest::kVersion) {
    return fail(Code::kInvalid,
                path + " is of version " + json_text(version) +
                    " of the format, and this forebay reads "
                    "version " +
                    std::to_string(Manifest::kVersion) +
                    ": go on with the forebay that wrote it, or start anew with --restart");
  }
  const json files = announced.value("files", json());
  if (!files.is_object() || digest.is_null()) return damaged();
  Manifest manifest;
  for (const auto& [name, entry] : files.items()) {
    auto file = parse_file(entry);
    if (!file || !is_below(name)) return damaged();
    manifest.files.emplace(name, std::move(*file));
  }
  return manifest;
}

}  // namespace forebay
