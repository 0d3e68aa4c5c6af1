#include "tools/inspect/part_report.h"

#include <filesystem>
#include <utility>

#include "engine/job/quantity.h"
#include "trainer/saving/durable_file.h"
#include "trainer/saving/folder_source.h"
#include "trainer/saving/folder_writer.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostManifest = std::size_t{64} << 20;

/// The location of a checkpoint's file: the checkpoint's folder, and the file's name in it.
struct Place {
  fs::path folder;
  std::string name;
};

/// Returns the location of the file at `path`. Linked files are in a subfolder of the checkpoint's
/// folder.
Place place_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string name = path.filename().string();
  if (folder.filename() != kLinkFolder) return {folder, name};
  return {folder / "..", (fs::path(kLinkFolder) / name).string()};
}

FileReport report_of_manifest(const std::string& path, const Manifest& manifest) {
  FileReport report;
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : manifest.files) {
    bytes += file.bytes;
    report.lines.push_back(name + ", " + format_size(file.bytes));
  }
  report.title = "manifest of a checkpoint: " + format_count(manifest.files.size()) + " files, " +
                 format_size(bytes);
  report.json.add("path", path).add("kind", "checkpoint_manifest").add("bytes", bytes);
  return report;
}

}  // namespace

std::optional<Result<FileReport>> report_part(const std::string& path) {
  const Place place = place_of(path);
  const std::string in = (place.folder / kManifestFile).string();
  const auto text = read_part(in, kMostManifest);
  if (!text) return std::nullopt;
  const auto manifest = parse_manifest(*text, in);
  if (!manifest) return std::nullopt;
  if (place.name == kManifestFile) return report_of_manifest(path, *manifest);
  const auto file = manifest->files.find(place.name);
  if (file == manifest->files.end()) return std::nullopt;
  if (auto whole = check_digest(place.folder.string(), place.name, file->second); !whole) {
    return Result<FileReport>(fail(whole.error().code, whole.error().message));
  }
  FileReport report{.title = "of a checkpoint, whole, " + format_size(file->second.bytes)};
  report.lines.push_back("see forebay inspect " + place.folder.string());
  report.json.add("path", path).add("kind", "checkpoint_file").add("bytes", file->second.bytes);
  return report;
}

}  // namespace forebay
