#include "trainer/saving/checkpoint.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "core/data/digest.h"
#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/durable_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Whether the name stays below the folder it is relative to.
bool is_below(const std::string& name) {
  const fs::path path(name);
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

constexpr std::size_t kMostText = std::size_t{256} << 20;
constexpr const char* kLossesFile = "losses.json";
constexpr const char* kEvaluationsFile = "evaluations.json";
constexpr std::array kNeeded = {kLoaderFile, kLossesFile, kEvaluationsFile};

std::optional<LossWindow> parse_losses(const std::string& text) {
  const json object = parse_json(text);
  if (!object.is_object() || object.size() != 2) return std::nullopt;
  const json steps = object.value("steps", json());
  const json last = object.value("last", json());
  const auto is_number = [](const json& loss) { return loss.is_number(); };
  if (!steps.is_number_unsigned() || !last.is_array()) return std::nullopt;
  if (!std::ranges::all_of(last, is_number)) return std::nullopt;
  const auto count = steps.get<std::uint64_t>();
  if (last.size() != LossWindow::size_after(count)) return std::nullopt;
  return LossWindow(count, last.get<std::deque<double>>());
}

bool is_tensor_file(const std::string& name) { return name.ends_with(".safetensors"); }

/// Reads a small file that the manifest lists and checks its bytes.
Result<std::string> read_text(const fs::path& folder, const std::string& name,
                              const Manifest::File& file) {
  const std::string path = (folder / name).string();
  auto text = read_part(path, kMostText);
  if (!text) return pass(text);
  RunningDigest digest;
  digest.add(text->data(), text->size());
  if (digest.finish().hex() == file.digest) return text;
  return fail(Code::kCorrupt, path + " is damaged: its bytes have changed");
}

Result<Manifest> read_manifest(const fs::path& folder) {
  const std::string path = (folder / kManifestFile).string();
  auto text = read_part(path, kMostText);
  if (!text) return pass(text);
  auto manifest = parse_manifest(*text, path);
  if (!manifest) return manifest;
  const auto lists = [&](const std::string& name) { return manifest->files.contains(name); };
  if (std::ranges::all_of(StateTensor::kParts, lists, tensor_file_of) &&
      std::ranges::all_of(kNeeded, lists)) {
    return manifest;
  }
  return fail(Code::kCorrupt, path + " is damaged");
}

/// Reads and parses the small files of a checkpoint, of which it has all of kNeeded. kCorrupt names
/// the file that is damaged; kInvalid the file of another version.
Result<TrainState> read_state(const fs::path& folder, const Manifest& manifest) {
  TrainState state;
  for (const auto& [name, file] : manifest.files) {
    if (is_tensor_file(name) || is_link(name)) continue;
    auto text = read_text(folder, name, file);
    if (!text) return pass(text);
    state.texts.emplace(name, std::move(*text));
  }
  const auto take = [&](const char* name) { return std::move(state.texts.extract(name).mapped()); };
  const std::string prefix = folder.string() + "/";
  auto loader = parse_loader_state(take(kLoaderFile), prefix + kLoaderFile);
  if (!loader) return pass(loader);
  state.loader = std::move(*loader);
  auto losses = parse_losses(take(kLossesFile));
  if (!losses) return fail(Code::kCorrupt, prefix + kLossesFile + " is damaged");
  state.losses = std::move(*losses);
  state.evaluations = take(kEvaluationsFile);
  return state;
}

/// Checks the bytes of all files, or of those of tensors; the error names the first whose bytes
/// differ from those written.
Status check_digests(const std::string& folder, const Manifest& manifest, bool tensors_only) {
  for (const auto& [name, file] : manifest.files) {
    if (tensors_only && !is_tensor_file(name)) continue;
    if (auto same = check_digest(folder, name, file); !same) return same;
  }
  return {};
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
  if (!announced.is_object()) return damaged();
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

Result<Checkpoint> read_checkpoint(const std::string& path, Check check) {
  auto manifest = read_manifest(path);
  if (!manifest) return pass(manifest);
  if (auto whole = check_sizes(path, *manifest); !whole) return pass(whole);
  if (check == Check::kDigests) {
    if (auto same = check_digests(path, *manifest, false); !same) return pass(same);
  }
  auto state = read_state(path, *manifest);
  if (!state) return pass(state);
  const std::uint64_t batches = state->loader.position.batches;
  return Checkpoint{path, batches, std::move(*manifest), std::move(*state)};
}

Status load_checkpoint(const Checkpoint& checkpoint, Model& model) {
  auto source = FolderSource::open(checkpoint.path, checkpoint.manifest);
  if (!source) return pass(source);
  auto restored = model.restore(*source);
  if (restored) return source->finish();
  if (restored.error().code != Code::kInvalid) return restored;
  if (auto whole = check_digests(checkpoint.path, checkpoint.manifest, true); !whole) return whole;
  return fail(Code::kInvalid,
              checkpoint.path +
                  " holds another model than the job file asks for: " + restored.error().message +
                  "; give the job its columns and [trainer] sizes back, or start anew with "
                  "--restart");
}

std::map<std::string, std::string> to_texts(const TrainState& state) {
  auto texts = state.texts;
  texts[kLoaderFile] = to_json(state.loader);
  const json losses = {{"steps", state.losses.steps()}, {"last", state.losses.last()}};
  texts[kLossesFile] = json_text(losses) + "\n";
  texts[kEvaluationsFile] = state.evaluations;
  return texts;
}

}  // namespace forebay
