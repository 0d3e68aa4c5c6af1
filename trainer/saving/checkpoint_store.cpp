#include "trainer/saving/checkpoint_store.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "core/base/file_lock.h"
#include "core/base/open_files.h"
#include "trainer/saving/checkpoint_folder.h"
#include "trainer/saving/durable_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrial = ".tmp-trial";

using IsOne = bool (*)(std::string_view name);

std::error_code try_to_remove(IsOne is_one, const std::string& directory) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (is_one(entry.path().filename().string())) found.push_back(entry);
  }
  for (const fs::path& path : found) {
    if (!error) fs::remove_all(path, error);
  }
  return error;
}

Status remove_all_that(IsOne is_one, const std::string& directory) {
  DescriptorWait wait;
  std::error_code error = try_to_remove(is_one, directory);
  while (wait.again(error.value())) error = try_to_remove(is_one, directory);
  if (!error) return {};
  return fail(Code::kUnavailable, directory +
                                      ": the checkpoint directory cannot be read or cleaned: " +
                                      system_words(error.value()));
}

}  // namespace

Result<CheckpointStore> CheckpointStore::open(const std::string& directory, std::size_t keep) {
  std::error_code error;
  const auto refuse = [&](const std::string& action) {
    return fail(Code::kInvalid, directory + ": the checkpoint directory cannot be " + action +
                                    ": " + error.message() + "; set trainer.checkpoint to another");
  };
  if (fs::create_directories(directory, error); error) return refuse("made");
  auto held = lock_folder(directory,
                          "another run has its checkpoints there; wait for it, or set "
                          "trainer.checkpoint to another directory");
  if (!held) return pass(held);
  const IsOne is_left_over = [](std::string_view name) {
    return is_unfinished(name) || is_set_aside(name) || name == kTrial;
  };
  if (auto removed = remove_all_that(is_left_over, directory); !removed) return pass(removed);
  // Reports an unwritable directory now, not minutes later at the first checkpoint.
  const fs::path trial = fs::path(directory) / kTrial;
  if (fs::create_directory(trial, error); !error) fs::remove(trial, error);
  if (error) return refuse("written");
  return CheckpointStore(directory, std::max<std::size_t>(keep, 1), std::move(*held));
}

Result<std::string> CheckpointStore::save(StateSource& source, const TrainState& state,
                                          const std::function<bool(std::uint64_t)>& go_on) {
  if (auto swept = sweep(); !swept) return pass(swept);
  const std::string name = checkpoint_name(state.loader.position.batches);
  const std::string aside = (fs::path(directory_) / unfinished_name(name)).string();
  std::error_code error;
  fs::remove_all(aside, error);
  fs::create_directory(aside, error);
  if (error) return fail(Code::kUnavailable, aside + ": cannot be made: " + error.message());
  auto written = write_folder(aside, source, to_texts(state), last_, go_on);
  if (!written) {
    fs::remove_all(aside, error);
    return fail(written.error().code, not_written() + written.error().message);
  }
  if (auto placed = put_in_place(aside, name); !placed) return pass(placed);
  last_ = std::move(*written);
  return (fs::path(directory_) / name).string();
}

Status CheckpointStore::put_in_place(const std::string& aside, const std::string& name) const {
  // Checkpoints of this batch or later are damaged: a resume skipped them.
  auto abandoned = list_checkpoints(directory_);
  if (!abandoned) return pass(abandoned);
  std::erase_if(*abandoned, [&](const std::string& other) { return is_before(other, name); });
  if (auto moved = set_aside(*abandoned); !moved) return moved;
  std::error_code error;
  const fs::path folder = fs::path(directory_) / name;
  fs::rename(aside, folder, error);
  if (error) {
    return fail(Code::kUnavailable, folder.string() + ": cannot be renamed: " + error.message());
  }
  if (auto synced = sync_to_disk(directory_); !synced) return synced;
  std::vector<std::string> older = checkpoint_names(directory_);
  older.resize(older.size() > keep_ ? older.size() - keep_ : 0);
  return set_aside(older);
}

Result<CheckpointStore::Found> CheckpointStore::restore_last(Model& model, const Accept& accept) {
  Found found;
  last_ = {};
  auto all = list_checkpoints(directory_);
  if (!all) return pass(all);
  std::ranges::reverse(*all);
  for (const std::string& name : *all) {
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
  auto all = list_checkpoints(directory_);
  if (!all) return pass(all);
  if (auto moved = set_aside(*all); !moved) return moved;
  return sweep();
}

/// Renames the checkpoints, so that a kill during their removal leaves no partial checkpoint.
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

Status CheckpointStore::sweep() const {
  const IsOne is_left_over = [](std::string_view name) {
    return is_unfinished(name) || is_set_aside(name);
  };
  return remove_all_that(is_left_over, directory_);
}

}  // namespace forebay
