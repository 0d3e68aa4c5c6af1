#include "trainer/saving/checkpoint.h"

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/data/digest.h"
#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/durable_file.h"

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

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{256} << 20;

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
      std::ranges::all_of(needed_texts(), lists)) {
    return manifest;
  }
  return fail(Code::kCorrupt, path + " is damaged");
}

Result<TrainState> read_state(const fs::path& folder, const Manifest& manifest) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, file] : manifest.files) {
    if (is_tensor_file(name) || is_link(name)) continue;
    auto text = read_text(folder, name, file);
    if (!text) return pass(text);
    texts.emplace(name, std::move(*text));
  }
  return from_texts(std::move(texts), folder.string());
}

/// Checks the files of tensors; the error names the first whose bytes differ from those written.
Status check_tensor_files(const Checkpoint& checkpoint) {
  for (const auto& [name, file] : checkpoint.manifest.files) {
    if (!is_tensor_file(name)) continue;
    if (auto same = check_digest(checkpoint.path, name, file); !same) return same;
  }
  return {};
}

constexpr const char* kLossesFile = "losses.json";
constexpr const char* kEvaluationsFile = "evaluations.json";
constexpr std::array kNeeded = {kLoaderFile, kLossesFile, kEvaluationsFile};

std::string losses_text(const LossWindow& losses) {
  return json_text(json{{"steps", losses.steps()}, {"last", losses.last()}}) + "\n";
}

std::optional<LossWindow> parse_losses(const std::string& text) {
  const json object = parse_json(text);
  if (object.is_discarded() || !object.is_object() || object.size() != 2) return std::nullopt;
  if (!object.contains("steps") || !object["steps"].is_number_unsigned()) return std::nullopt;
  if (!object.contains("last") || !object["last"].is_array()) return std::nullopt;
  std::deque<double> last;
  for (const json& loss : object["last"]) {
    if (!loss.is_number()) return std::nullopt;
    last.push_back(loss.get<double>());
  }
  const auto steps = object["steps"].get<std::uint64_t>();
  if (last.size() != LossWindow::size_after(steps)) return std::nullopt;
  return LossWindow(steps, std::move(last));
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

Result<Checkpoint> read_checkpoint(const std::string& path, Check check) {
  auto manifest = read_manifest(path);
  if (!manifest) return pass(manifest);
  if (auto whole = check_sizes(path, *manifest); !whole) return pass(whole);
  if (check == Check::kDigests) {
    for (const auto& [name, file] : manifest->files) {
      if (auto whole = check_digest(path, name, file); !whole) return pass(whole);
    }
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
  if (auto whole = check_tensor_files(checkpoint); !whole) return whole;
  return fail(Code::kInvalid,
              checkpoint.path +
                  " holds another model than the job file asks for: " + restored.error().message +
                  "; give the job its columns and [trainer] sizes back, or start anew with "
                  "--restart");
}

std::map<std::string, std::string> to_texts(const TrainState& state) {
  auto texts = state.texts;
  texts[kLoaderFile] = to_json(state.loader);
  texts[kLossesFile] = losses_text(state.losses);
  texts[kEvaluationsFile] = state.evaluations;
  return texts;
}

std::span<const char* const> needed_texts() { return kNeeded; }

Result<TrainState> from_texts(std::map<std::string, std::string> texts, const std::string& folder) {
  const auto take = [&](const char* name) { return std::move(texts.extract(name).mapped()); };
  TrainState state;
  auto loader = parse_loader_state(take(kLoaderFile), folder + "/" + kLoaderFile);
  if (!loader) return pass(loader);
  state.loader = std::move(*loader);
  auto losses = parse_losses(take(kLossesFile));
  if (!losses) return fail(Code::kCorrupt, folder + "/" + kLossesFile + " is damaged");
  state.losses = std::move(*losses);
  state.evaluations = take(kEvaluationsFile);
  state.texts = std::move(texts);
  return state;
}

}  // namespace forebay
