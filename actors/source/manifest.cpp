#include "actors/source/manifest.h"

#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/source/index/partial_file.h"
#include "core/base/json_text.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // enough for a million files

struct Written {
  std::uint64_t bytes = 0;
  std::string digest;

  bool operator==(const Written&) const = default;
};
using Manifest = std::vector<std::pair<std::string, Written>>;

std::string path_of(const std::string& run_dir, const Digest& fingerprint) {
  return run_dir + "/index/dataset-" + fingerprint.hex() + ".json";
}

Manifest manifest_of(const Dataset& dataset) {
  Manifest manifest;
  for (const DatasetFile& file : dataset.files()) {
    manifest.push_back({file.name, {.bytes = file.bytes, .digest = file.content.hex()}});
  }
  return manifest;
}

// Returns an empty manifest if the text does not have the format of write_manifest().
Manifest parse(const std::string& text) {
  const auto json = parse_json(text);
  Manifest manifest;
  if (!json.is_object() || !json.contains("files") || !json["files"].is_array()) return {};
  for (const auto& file : json["files"]) {
    const bool sound = file.is_object() && file.contains("name") && file["name"].is_string() &&
                       file.contains("bytes") && file["bytes"].is_number_unsigned() &&
                       file.contains("digest") && file["digest"].is_string();
    if (!sound) return {};
    manifest.push_back({file["name"].get<std::string>(),
                        {.bytes = file["bytes"].get<std::uint64_t>(),
                         .digest = file["digest"].get<std::string>()}});
  }
  return manifest;
}

std::vector<std::string> differences(const Manifest& before, const Manifest& now) {
  std::map<std::string, Written> left(before.begin(), before.end());
  std::vector<std::string> lines;
  for (const auto& [name, written] : now) {
    const auto found = left.find(name);
    if (found == left.end()) {
      lines.push_back(name + " was added");
      continue;
    }
    if (found->second != written) lines.push_back(name + " has other content");
    left.erase(found);
  }
  for (const auto& [name, written] : left) lines.push_back(name + " is gone");
  if (lines.empty() && before != now) lines.push_back("the files come in another order");
  return lines;
}

}  // namespace

Status write_manifest(const std::string& run_dir, const Dataset& dataset) {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const auto& [name, written] : manifest_of(dataset)) {
    files.push_back({{"name", name}, {"bytes", written.bytes}, {"digest", written.digest}});
  }
  const nlohmann::ordered_json json = {{"fingerprint", dataset.fingerprint().hex()},
                                       {"files", files}};
  const std::string path = path_of(run_dir, dataset.fingerprint());
  // File names need not be UTF-8; json_text() replaces bytes that are not.
  const std::string text = json_text(json, 1) + "\n";
  auto file = PartialFile::create(path);
  if (!file) return pass(file);
  if (auto status = file->write(text); !status) return status;
  return file->commit();
}

Result<std::vector<std::string>> changed_files(const std::string& run_dir, const Digest& before,
                                               const Dataset& dataset) {
  const std::string path = path_of(run_dir, before);
  const auto text = read_whole(path, kMostBytes);
  const Manifest manifest = text ? parse(*text) : Manifest{};
  if (manifest.empty()) return fail(Code::kNotFound, path + " is not there or not readable");
  return differences(manifest, manifest_of(dataset));
}

}  // namespace forebay
