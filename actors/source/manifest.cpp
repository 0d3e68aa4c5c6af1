#include "actors/source/manifest.h"

#include <map>

#include "actors/source/index/partial_file.h"
#include "core/base/text/json_fields.h"
#include "core/base/text/json_text.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;  // enough for a million files

struct ManifestFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string digest;

  bool operator==(const ManifestFile&) const = default;
};
using ManifestFiles = std::vector<ManifestFile>;

struct Manifest {
  std::string fingerprint;
  ManifestFiles files;
};

void list(auto& fields, ManifestFile& file) {
  fields("name", file.name);
  fields("bytes", file.bytes);
  fields("digest", file.digest);
}

void list(auto& fields, Manifest& manifest) {
  fields("fingerprint", manifest.fingerprint);
  fields("files", manifest.files);
}

std::string path_of(const std::string& run_dir, const Digest& fingerprint) {
  return run_dir + "/index/dataset-" + fingerprint.hex() + ".json";
}

ManifestFiles files_of(const Dataset& dataset) {
  ManifestFiles files;
  for (const DatasetFile& file : dataset.files()) {
    files.push_back({file.name, file.bytes, file.content.hex()});
  }
  return files;
}

// Returns no files if the text does not have the format of write_manifest().
ManifestFiles parse(const std::string& text) {
  const auto json = parse_json(text);
  std::string problem;
  Manifest manifest;
  JsonFieldReader fields(json, {}, problem);
  list(fields, manifest);
  return problem.empty() ? manifest.files : ManifestFiles{};
}

std::vector<std::string> differences(const ManifestFiles& before, const ManifestFiles& now) {
  std::map<std::string, ManifestFile> left;
  for (const ManifestFile& file : before) left.emplace(file.name, file);
  std::vector<std::string> lines;
  for (const ManifestFile& file : now) {
    const auto found = left.find(file.name);
    if (found == left.end()) {
      lines.push_back(file.name + " was added");
      continue;
    }
    if (found->second != file) lines.push_back(file.name + " has other content");
    left.erase(found);
  }
  for (const auto& [name, file] : left) lines.push_back(name + " is gone");
  if (lines.empty() && before != now) lines.push_back("the files come in another order");
  return lines;
}

}  // namespace

Status write_manifest(const std::string& run_dir, const Dataset& dataset) {
  Manifest manifest{dataset.fingerprint().hex(), files_of(dataset)};
  const std::string path = path_of(run_dir, dataset.fingerprint());
  // File names need not be UTF-8; json_text() replaces bytes that are not.
  const std::string text = json_text(JsonFieldWriter::written(manifest), 1) + "\n";
  auto file = PartialFile::create(path);
  if (!file) return pass(file);
  if (auto status = file->write(text); !status) return status;
  return file->commit();
}

Result<std::vector<std::string>> changed_files(const std::string& run_dir, const Digest& before,
                                               const Dataset& dataset) {
  const std::string path = path_of(run_dir, before);
  const auto text = read_whole(path, kMostBytes);
  const ManifestFiles files = text ? parse(*text) : ManifestFiles{};
  if (files.empty()) return fail(Code::kNotFound, path + " is not there or not readable");
  return differences(files, files_of(dataset));
}

}  // namespace forebay
