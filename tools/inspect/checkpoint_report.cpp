#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/text/counted.h"
#include "engine/job/quantity.h"
#include "tools/inspect/inspect.h"
#include "trainer/model_description.h"
#include "trainer/saving/checkpoint.h"
#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/checkpoint_names.h"
#include "trainer/saving/durable_file.h"

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

std::uint64_t bytes_of(const Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const auto& [name, file] : manifest.files) bytes += file.bytes;
  return bytes;
}

FileReport report_of_manifest(const std::string& path, const Manifest& manifest) {
  FileReport report;
  const std::uint64_t bytes = bytes_of(manifest);
  for (const auto& [name, file] : manifest.files) {
    report.lines.push_back(name + ", " + format_size(file.bytes));
  }
  report.title = "manifest of a checkpoint: " + format_counted(manifest.files.size(), "file") +
                 ", " + format_size(bytes);
  report.json.add("path", path).add("kind", "checkpoint_manifest").add("bytes", bytes);
  return report;
}

/// The parts of a checkpoint that a report shows.
struct Held {
  const Checkpoint& checkpoint;
  std::vector<StateTensor> tensors;
  std::optional<ModelDescription> card;  // absent for a model without a description
};

Result<Held> look_into(const Checkpoint& checkpoint) {
  Held held{.checkpoint = checkpoint, .tensors = {}, .card = {}};
  auto source = FolderSource::open(checkpoint.path, checkpoint.manifest);
  if (!source) return pass(source);
  held.tensors = source->tensors();
  const auto text = checkpoint.state.texts.find(kModelFile);
  if (text == checkpoint.state.texts.end()) return held;
  auto card = parse_model(text->second, checkpoint.path + "/" + kModelFile);
  if (!card) return pass(card);
  held.card = std::move(*card);
  return held;
}

std::string title_of(const Checkpoint& checkpoint) {
  return "checkpoint after " + format_count(checkpoint.batches) + " batches, " +
         format_count(checkpoint.state.loader.position.rows) + " rows, " +
         format_size(bytes_of(checkpoint.manifest));
}

std::string part_of(const StateTensor& tensor) {
  constexpr std::array kParts = {"weights", "optimizer", "tables"};
  return kParts[static_cast<std::size_t>(tensor.part)];
}

std::string shape_of(const StateTensor& tensor) {
  std::string text;
  for (const std::int64_t extent : tensor.shape) {
    if (!text.empty()) text += " x ";
    text += std::to_string(extent);
  }
  return text;
}

/// Returns the names of the policies' learned states in the checkpoint.
std::vector<std::string> learned_state_in(const Checkpoint& checkpoint) {
  constexpr std::string_view kPrefix = "tuner/";
  std::vector<std::string> names;
  for (const auto& [name, text] : checkpoint.state.texts) {
    if (name.starts_with(kPrefix)) names.push_back(name.substr(kPrefix.size()));
  }
  return names;
}

JsonObject json_of_tensor(const StateTensor& tensor) {
  return JsonObject()
      .add("name", tensor.name)
      .add("part", part_of(tensor))
      .add("type", std::string(name_of(tensor.type)))
      .add("shape", shape_of(tensor))
      .add("bytes", tensor.bytes());
}

JsonObject json_of(const Held& held) {
  const Checkpoint& checkpoint = held.checkpoint;
  const LoaderState& loader = checkpoint.state.loader;
  const auto json_of_file = [](const auto& entry) {
    return JsonObject()
        .add("name", entry.first)
        .add("bytes", entry.second.bytes)
        .add("linked", entry.second.inode.has_value());
  };
  JsonObject json;
  json.add("path", checkpoint.path)
      .add("kind", "checkpoint")
      .add("batches", checkpoint.batches)
      .add("rows", loader.position.rows)
      .add("epochs", loader.position.epoch)
      .add("loss", checkpoint.state.losses.mean())
      .add("order_digest", loader.position.digest.hex())
      .add("fingerprint", loader.fingerprint)
      .add("bytes", bytes_of(checkpoint.manifest))
      .add("files", checkpoint.manifest.files, json_of_file)
      .add("tensors", held.tensors, json_of_tensor)
      .add("experience", learned_state_in(checkpoint));
  if (held.card) {
    json.add("model", std::string(name_in(kModelNames, held.card->shape.network)))
        .add("pooling", std::string(name_in(kPoolingNames, held.card->spec.pooling)))
        .add("tables", std::string(name_in(kStorageNames, held.card->spec.tables.storage)));
  }
  return json;
}

std::vector<std::string> lines_of(const Held& held) {
  const Checkpoint& checkpoint = held.checkpoint;
  const auto& loader = checkpoint.state.loader;
  const auto& losses = checkpoint.state.losses;
  const auto loss = losses.mean();
  std::vector<std::string> lines = {
      format_count(loader.position.epoch) + " epochs completed, loss " +
          (loss ? std::to_string(*loss) : "unknown") + " over the last " +
          format_count(losses.last().size()) + " of " + format_count(losses.steps()) + " steps",
      "of the dataset with fingerprint " + loader.fingerprint + "; order digest " +
          loader.position.digest.hex()};
  if (held.card) {
    lines.push_back("model " + std::string(name_in(kModelNames, held.card->shape.network)) + ", " +
                    format_count(held.card->shape.dense_names.size()) + " dense and " +
                    format_count(held.card->shape.sparse_names.size()) +
                    " sparse features, pooling " +
                    std::string(name_in(kPoolingNames, held.card->spec.pooling)) + ", tables " +
                    std::string(name_in(kStorageNames, held.card->spec.tables.storage)));
  }
  for (const StateTensor& tensor : held.tensors) {
    lines.push_back("  " + tensor.name + " (" + part_of(tensor) + "), " + shape_of(tensor) + " " +
                    std::string(name_of(tensor.type)) + ", " + format_size(tensor.bytes()));
  }
  for (const auto& [name, file] : checkpoint.manifest.files) {
    lines.push_back("  " + name + ", " + format_size(file.bytes) +
                    (file.inode ? ", linked, whole" : ", whole"));
  }
  for (const std::string& name : learned_state_in(checkpoint)) {
    lines.push_back("  what the tuner learned: " + name);
  }
  return lines;
}

Result<FileReport> report_checkpoints(const std::string& path,
                                      const std::vector<std::string>& found) {
  FileReport report{.title = std::to_string(found.size()) + " checkpoints"};
  std::vector<JsonObject> list;
  for (const std::string& each : found) {
    auto checkpoint = read_checkpoint(each, Check::kDigests);
    if (!checkpoint) {
      report.lines.push_back("unusable: " + checkpoint.error().message);
      list.push_back(JsonObject()
                         .add("path", each)
                         .add("kind", "unusable")
                         .add("message", checkpoint.error().message));
      continue;
    }
    auto held = look_into(*checkpoint);
    if (!held) return pass(held);
    report.lines.push_back(each + ": " + title_of(*checkpoint));
    for (const std::string& line : lines_of(*held)) report.lines.push_back("  " + line);
    list.push_back(json_of(*held));
  }
  report.json.add("path", path).add("kind", "checkpoints").add("checkpoints", list);
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

Result<FileReport> report_folder(const std::string& path) {
  std::error_code error;
  if (fs::directory_iterator(path, error); error) {
    return fail(Code::kInvalid, path + ": " + error.message());
  }
  std::vector<std::string> found;
  for (const std::string& name : checkpoint_names(path)) found.push_back(fs::path(path) / name);
  if (!found.empty()) return report_checkpoints(path, found);
  if (!fs::exists(fs::path(path) / "manifest.json", error)) {
    return fail(Code::kInvalid, path + ": a folder that holds no checkpoint; name a file in it");
  }
  auto checkpoint = read_checkpoint(path, Check::kDigests);
  if (!checkpoint) return pass(checkpoint);
  auto held = look_into(*checkpoint);
  if (!held) return pass(held);
  return FileReport{
      .title = title_of(*checkpoint), .lines = lines_of(*held), .json = json_of(*held)};
}

}  // namespace forebay
