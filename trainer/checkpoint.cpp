#include "trainer/checkpoint.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "trainer/durable_file.h"
#include "trainer/saving/checkpoint_names.h"
#include "trainer/saving/folder_source.h"
#include "trainer/saving/folder_writer.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTrial = ".tmp-trial";
constexpr std::size_t kMostText = std::size_t{256} << 20;
constexpr const char* kLoaderFile = "loader.json";
constexpr const char* kLossesFile = "losses.json";
constexpr const char* kEvaluationsFile = "evaluations.json";

using IsOne = bool (*)(std::string_view name);

Status remove_all_that(IsOne is_one, const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (is_one(entry.path().filename().string())) found.push_back(entry);
  }
  for (const fs::path& path : found) {
    if (!error) fs::remove_all(path, error);
  }
  if (!error) return {};
  return fail(
      Code::kUnavailable,
      directory + ": the checkpoint directory cannot be read or cleaned: " + error.message());
}

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

bool is_tensor_file(const std::string& name) { return name.ends_with(".safetensors"); }

bool is_link(const std::string& name) { return name.starts_with(std::string(kLinkFolder) + "/"); }

/// Reads a small file that the manifest lists and checks its bytes.
Result<std::string> read_text(const fs::path& folder, const std::string& name,
                              const Manifest::File& file) {
  const std::string path = (folder / name).string();
  auto text = read_small_file(path, kMostText);
  if (!text) return pass(text);
  RunningDigest digest;
  digest.add(text->data(), text->size());
  if (digest.finish().hex() == file.digest) return text;
  return fail(Code::kCorrupt, path + " is damaged: its bytes have changed");
}

Result<Manifest> read_manifest(const fs::path& folder) {
  const std::string path = (folder / kManifestFile).string();
  auto text = read_small_file(path, kMostText);
  if (!text) return pass(text);
  auto manifest = parse_manifest(*text, path);
  if (!manifest) return manifest;
  for (const std::string& name :
       {tensor_file_of(StateTensor::Part::kWeights), tensor_file_of(StateTensor::Part::kOptimizer),
        tensor_file_of(StateTensor::Part::kTables), std::string(kLoaderFile),
        std::string(kLossesFile), std::string(kEvaluationsFile)}) {
    if (!manifest->files.contains(name)) return fail(Code::kCorrupt, path + " is damaged");
  }
  return manifest;
}

Result<TrainState> read_state(const fs::path& folder, const Manifest& manifest) {
  TrainState state;
  for (const auto& [name, file] : manifest.files) {
    if (is_tensor_file(name) || is_link(name)) continue;
    auto text = read_text(folder, name, file);
    if (!text) return pass(text);
    state.texts.emplace(name, std::move(*text));
  }
  const auto take = [&](const char* name) { return std::move(state.texts.extract(name).mapped()); };
  auto loader = parse_loader_state(take(kLoaderFile), (folder / kLoaderFile).string());
  if (!loader) return pass(loader);
  state.loader = std::move(*loader);
  auto losses = parse_losses(take(kLossesFile));
  if (!losses) return fail(Code::kCorrupt, (folder / kLossesFile).string() + " is damaged");
  state.losses = std::move(*losses);
  state.evaluations = take(kEvaluationsFile);
  return state;
}

std::map<std::string, std::string> texts_of(const TrainState& state) {
  auto texts = state.texts;
  texts[kLoaderFile] = to_json(state.loader);
  texts[kLossesFile] = losses_text(state.losses);
  texts[kEvaluationsFile] = state.evaluations;
  return texts;
}

/// The directory, locked until what is returned goes; unlocked where its file system has no locks.
Result<Descriptor> hold(const std::string& directory) {
  Descriptor held(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (held && (::flock(held.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)) return held;
  return fail(Code::kUnavailable,
              directory + ": " +
                  (held ? "another run has its checkpoints there; wait for it, or set "
                          "trainer.checkpoint to another directory"
                        : std::string("cannot be opened: ") + std::strerror(errno)));
}

/// The first of the files of tensors whose bytes are not those that were written.
Status check_tensor_files(const Checkpoint& checkpoint) {
  for (const auto& [name, file] : checkpoint.manifest.files) {
    if (!is_tensor_file(name)) continue;
    if (auto same = check_digest(checkpoint.path, name, file); !same) return same;
  }
  return {};
}

}  // namespace

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

Result<CheckpointStore> CheckpointStore::open(const std::string& directory, std::size_t keep) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return fail(Code::kInvalid, directory + ": the checkpoint directory cannot be made: " +
                                    error.message() + "; set trainer.checkpoint to another");
  }
  auto held = hold(directory);
  if (!held) return pass(held);
  const IsOne is_left_over = [](std::string_view name) {
    return is_unfinished(name) || is_set_aside(name) || name == kTrial;
  };
  if (auto removed = remove_all_that(is_left_over, directory); !removed) return pass(removed);
  // Found out now, not after the minutes until the first checkpoint is due.
  const fs::path trial = fs::path(directory) / kTrial;
  if (fs::create_directory(trial, error); !error) fs::remove(trial, error);
  if (error) {
    return fail(Code::kInvalid, directory + ": the checkpoint directory cannot be written: " +
                                    error.message() + "; set trainer.checkpoint to another");
  }
  return CheckpointStore(directory, std::max<std::size_t>(keep, 1), std::move(*held));
}

bool CheckpointStore::empty() const { return checkpoint_names(directory_).empty(); }

Result<std::string> CheckpointStore::save(StateSource& source, const TrainState& state,
                                          const std::function<bool(std::uint64_t)>& go_on) {
  if (auto swept = sweep(); !swept) return pass(swept);
  const std::string name = checkpoint_name(state.loader.position.batches);
  const std::string aside = (fs::path(directory_) / unfinished_name(name)).string();
  std::error_code error;
  fs::remove_all(aside, error);
  fs::create_directory(aside, error);
  if (error) return fail(Code::kUnavailable, aside + ": cannot be made: " + error.message());
  auto written = write_folder(aside, source, texts_of(state), {.previous = last_, .go_on = go_on});
  if (!written) {
    fs::remove_all(aside, error);
    return fail(written.error().code,
                "checkpoint not written (the last one stands): " + written.error().message);
  }
  if (auto placed = put_in_place(aside, name); !placed) return pass(placed);
  last_ = std::move(*written);
  return (fs::path(directory_) / name).string();
}

Status CheckpointStore::put_in_place(const std::string& aside, const std::string& name) const {
  // Those of this batch or later are damaged: a resume went behind them.
  std::vector<std::string> abandoned = checkpoint_names(directory_);
  std::erase_if(abandoned, [&](const std::string& other) { return is_before(other, name); });
  if (auto moved = set_aside(abandoned); !moved) return moved;
  std::error_code error;
  const fs::path folder = fs::path(directory_) / name;
  fs::rename(aside, folder, error);
  if (error) {
    return fail(Code::kUnavailable, folder.string() + ": cannot be renamed: " + error.message());
  }
  if (auto synced = sync_directory(directory_); !synced) return synced;
  std::vector<std::string> older = checkpoint_names(directory_);
  older.resize(older.size() > keep_ ? older.size() - keep_ : 0);
  return set_aside(older);
}

Result<CheckpointStore::Found> CheckpointStore::restore_last(Model& model, const Accept& accept) {
  Found found;
  last_ = {};
  std::vector<std::string> all = checkpoint_names(directory_);
  std::ranges::reverse(all);
  for (const std::string& name : all) {
    auto checkpoint = read_checkpoint((fs::path(directory_) / name).string(), Check::kSizes);
    Status done = checkpoint ? Status() : Status(pass(checkpoint));
    if (checkpoint) {
      if (auto agreed = accept(*checkpoint); !agreed) return pass(agreed);
      done = load_checkpoint(*checkpoint, model);
      found.touched = !done;
    }
    if (done) {
      last_ = checkpoint->manifest;
      found.checkpoint = std::move(*checkpoint);
      return found;
    }
    if (done.error().code != Code::kCorrupt) return pass(done);
    found.damaged.push_back(done.error().message);
  }
  return found;
}

Status CheckpointStore::clear() {
  if (auto moved = set_aside(checkpoint_names(directory_)); !moved) return moved;
  return sweep();
}

/// By another name, so that a kill while they are removed leaves no half of a checkpoint.
Status CheckpointStore::set_aside(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    std::error_code error;
    const fs::path folder = fs::path(directory_) / name;
    fs::rename(folder, fs::path(directory_) / set_aside_name(name), error);
    if (error) {
      return fail(Code::kUnavailable, folder.string() + ": cannot be removed: " + error.message());
    }
  }
  return {};
}

Status CheckpointStore::sweep() const { return remove_all_that(is_set_aside, directory_); }

}  // namespace forebay
