#include "trainer/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "trainer/durable_file.h"
#include "trainer/tensor_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kKept = 2;
constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kUnfinished = ".tmp-";
constexpr std::size_t kMostText = std::size_t{256} << 20;
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kOptimizerFile = "optimizer.safetensors";
constexpr const char* kLoaderFile = "loader.json";
constexpr const char* kLossesFile = "losses.json";
constexpr const char* kManifestFile = "manifest.json";

std::vector<StateTensor> part_of(Model& model, StateTensor::Part part) {
  std::vector<StateTensor> tensors = model.state();
  std::erase_if(tensors, [&](const StateTensor& tensor) { return tensor.part != part; });
  return tensors;
}

/// By number: names are padded to nine digits, and longer numbers are larger.
bool is_before(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Result<DurableFile::Written> write_text(const fs::path& path, const std::string& text) {
  auto file = DurableFile::create(path.string());
  if (!file) return pass(file);
  if (auto written = file->write(text.data(), text.size()); !written) return pass(written);
  return file->finish();
}

std::string losses_text(const LossWindow& losses) {
  return json{{"steps", losses.steps()}, {"last", losses.last()}}.dump() + "\n";
}

std::optional<LossWindow> parse_losses(const std::string& text) {
  const json object = json::parse(text, nullptr, false);
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

/// Writes every file of a checkpoint into `folder`, the manifest last.
Status write_files(const fs::path& folder, Model& model, const TrainState& state) {
  json files = json::object();
  const auto note = [&](const char* name, Result<DurableFile::Written> written) -> Status {
    if (!written) return pass(written);
    files[name] = {{"bytes", written->bytes}, {"digest", written->digest.hex()}};
    return {};
  };
  const auto tensors = [&](const char* name, StateTensor::Part part) {
    return note(name, write_tensors((folder / name).string(), part_of(model, part)));
  };
  auto done = tensors(kModelFile, StateTensor::Part::kWeights);
  if (done) done = tensors(kOptimizerFile, StateTensor::Part::kOptimizer);
  if (done) done = note(kLoaderFile, write_text(folder / kLoaderFile, to_json(state.loader)));
  if (done) done = note(kLossesFile, write_text(folder / kLossesFile, losses_text(state.losses)));
  if (!done) return done;
  const json manifest = {{"version", kVersion}, {"files", std::move(files)}};
  auto written = write_text(folder / kManifestFile, manifest.dump(1) + "\n");
  if (!written) return pass(written);
  return sync_directory(folder.string());
}

Status check_file(const fs::path& path, std::uint64_t bytes, const std::string& digest) {
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(path, missing);
  if (missing) return fail(Code::kCorrupt, path.string() + " is missing");
  if (size != bytes) {
    return fail(Code::kCorrupt, path.string() + " has " + std::to_string(size) + " bytes, not " +
                                    std::to_string(bytes));
  }
  std::ifstream file(path, std::ios::binary);
  std::vector<char> buffer(std::size_t{1} << 20);
  RunningDigest running;
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
    running.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (running.finish().hex() != digest) {
    return fail(Code::kCorrupt, path.string() + " is damaged: its bytes have changed");
  }
  return {};
}

/// Checks each file that the manifest lists, and that it lists those there must be.
Result<std::map<std::string, std::uint64_t>> check_files(const fs::path& folder) {
  const fs::path path = folder / kManifestFile;
  auto text = read_small_file(path.string(), kMostText);
  if (!text) return fail(Code::kCorrupt, text.error().message);
  const auto damaged = [&] { return fail(Code::kCorrupt, path.string() + " is damaged"); };
  const json manifest = json::parse(*text, nullptr, false);
  if (manifest.is_discarded() || !manifest.is_object()) return damaged();
  if (!manifest.contains("version") || !manifest.contains("files")) return damaged();
  if (manifest["version"] != kVersion) {
    return fail(Code::kCorrupt, path.string() + " is of another version of forebay");
  }
  std::map<std::string, std::uint64_t> sizes;
  for (const char* name : {kModelFile, kOptimizerFile, kLoaderFile, kLossesFile}) {
    const json& files = manifest["files"];
    if (!files.is_object() || !files.contains(name) || !files[name].is_object()) return damaged();
    const json bytes = files[name].value("bytes", json());
    const json digest = files[name].value("digest", json());
    if (!bytes.is_number_unsigned() || !digest.is_string()) return damaged();
    sizes[name] = bytes.get<std::uint64_t>();
    auto checked = check_file(folder / name, sizes[name], digest.get<std::string>());
    if (!checked) return pass(checked);
  }
  return sizes;
}

}  // namespace

Result<Checkpoint> read_checkpoint(const std::string& path) {
  const fs::path folder(path);
  Checkpoint checkpoint;
  checkpoint.path = path;
  auto files = check_files(folder);
  if (!files) return pass(files);
  checkpoint.files = std::move(*files);
  auto loader_text = read_small_file((folder / kLoaderFile).string(), kMostText);
  if (!loader_text) return pass(loader_text);
  auto loader = parse_loader_state(*loader_text, (folder / kLoaderFile).string());
  if (!loader) return pass(loader);
  checkpoint.state.loader = std::move(*loader);
  checkpoint.batches = checkpoint.state.loader.position.batches;
  auto losses_file = read_small_file((folder / kLossesFile).string(), kMostText);
  if (!losses_file) return pass(losses_file);
  auto losses = parse_losses(*losses_file);
  if (!losses) return fail(Code::kCorrupt, (folder / kLossesFile).string() + " is damaged");
  checkpoint.state.losses = std::move(*losses);
  return checkpoint;
}

Result<CheckpointStore> CheckpointStore::open(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return fail(Code::kInvalid, directory + ": the checkpoint directory cannot be made: " +
                                    error.message() + "; set trainer.checkpoint to another");
  }
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename().string().starts_with(kUnfinished)) unfinished.push_back(entry);
  }
  for (const fs::path& path : unfinished) fs::remove_all(path, error);
  if (error) {
    return fail(Code::kUnavailable, directory +
                                        ": the checkpoint directory cannot be read or "
                                        "cleaned: " +
                                        error.message());
  }
  // Found out now, not after the minutes until the first checkpoint is due.
  const fs::path trial = fs::path(directory) / (std::string(kUnfinished) + "trial");
  if (fs::create_directory(trial, error); !error) fs::remove(trial, error);
  if (error) {
    return fail(Code::kInvalid, directory + ": the checkpoint directory cannot be written: " +
                                    error.message() + "; set trainer.checkpoint to another");
  }
  return CheckpointStore(directory);
}

std::vector<std::string> CheckpointStore::names() const {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory_, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix)) found.push_back(std::move(name));
  }
  std::ranges::sort(found, is_before);
  return found;
}

bool CheckpointStore::empty() const { return names().empty(); }

Result<std::string> CheckpointStore::save(Model& model, const TrainState& state) {
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%09llu",
                static_cast<unsigned long long>(state.loader.position.batches));
  const std::string name = std::string(kPrefix) + number.data();
  const fs::path folder = fs::path(directory_) / name;
  const fs::path aside = fs::path(directory_) / (std::string(kUnfinished) + name);
  std::error_code error;
  fs::remove_all(aside, error);
  fs::create_directory(aside, error);
  if (error) {
    return fail(Code::kUnavailable, aside.string() + ": cannot be made: " + error.message());
  }
  if (auto written = write_files(aside, model, state); !written) {
    fs::remove_all(aside, error);
    return fail(written.error().code,
                "checkpoint not written (the last one stands): " + written.error().message);
  }
  // Those of this batch or later are damaged: a resume went behind them.
  std::vector<std::string> abandoned = names();
  std::erase_if(abandoned, [&](const std::string& other) { return is_before(other, name); });
  if (auto removed = remove(abandoned); !removed) return pass(removed);
  fs::rename(aside, folder, error);
  if (error) {
    return fail(Code::kUnavailable, folder.string() + ": cannot be renamed: " + error.message());
  }
  if (auto synced = sync_directory(directory_); !synced) return pass(synced);
  std::vector<std::string> older = names();
  older.resize(older.size() > kKept ? older.size() - kKept : 0);
  if (auto removed = remove(older); !removed) return pass(removed);
  return folder.string();
}

Result<CheckpointStore::Found> CheckpointStore::find_last() const {
  Found found;
  std::vector<std::string> all = names();
  std::ranges::reverse(all);
  for (const std::string& name : all) {
    auto checkpoint = read_checkpoint((fs::path(directory_) / name).string());
    if (checkpoint) {
      found.checkpoint = std::move(*checkpoint);
      break;
    }
    found.damaged.push_back(checkpoint.error().message);
  }
  return found;
}

Status CheckpointStore::load(const Checkpoint& checkpoint, Model& model) const {
  const fs::path folder(checkpoint.path);
  const std::vector<StateTensor> all = model.state();
  const auto fill = [&](const char* name, StateTensor::Part part) {
    std::vector<StateTensor> tensors = all;
    std::erase_if(tensors, [&](const StateTensor& tensor) { return tensor.part != part; });
    return read_tensors((folder / name).string(), tensors);
  };
  auto filled = fill(kModelFile, StateTensor::Part::kWeights);
  if (filled) filled = fill(kOptimizerFile, StateTensor::Part::kOptimizer);
  if (filled) model.state_changed();
  return filled;
}

Status CheckpointStore::clear() { return remove(names()); }

Status CheckpointStore::remove(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    // Renamed first, so that a kill in between leaves no half of a checkpoint under its name.
    std::error_code error;
    const fs::path aside = fs::path(directory_) / (std::string(kUnfinished) + "old-" + name);
    fs::rename(fs::path(directory_) / name, aside, error);
    if (!error) fs::remove_all(aside, error);
    if (error) {
      return fail(Code::kUnavailable,
                  directory_ + "/" + name + ": cannot be removed: " + error.message());
    }
  }
  return {};
}

}  // namespace forebay
