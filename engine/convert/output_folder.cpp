#include "engine/convert/output_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/base/file_lock.h"
#include "core/base/whole_file.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEndings[] = {"_sparse_multi_hot.npz",
                                         "_dense.npy",
                                         "_sparse.npy",
                                         "_labels.npy",
                                         ".npz",
                                         ".parquet",
                                         ".tsv",
                                         ".csv",
                                         ".txt"};
constexpr std::size_t kMostStateBytes = 64 << 20;  // the sizes of some million outputs
constexpr char kSizes[] = "sizes";
constexpr char kStartAnew[] = "; give another folder to start anew";

tl::unexpected<Error> unusable(const std::string& path, const std::string& why) {
  return fail(Code::kInvalid, "--out " + path + ": " + why);
}

tl::unexpected<Error> missing(const std::string& path, const std::string& file) {
  return unusable(path, file + " was written and is missing" + kStartAnew);
}

/// The bytes of a regular file; nothing if there is none.
std::optional<std::uint64_t> size_of(const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  const std::uintmax_t bytes = fs::file_size(file, error);
  return error ? std::nullopt : std::optional<std::uint64_t>(bytes);
}

/// Whether there are sizes for each of the `done` inputs, of at least one output and at most those
/// named.
bool fit(const OutputSizes& sizes, std::uint64_t done,
         const std::vector<std::vector<std::string>>& files) {
  if (sizes.size() != done) return false;
  return std::ranges::equal(sizes, std::span(files).first(done), [](auto& some, auto& named) {
    return !some.empty() && some.size() <= named.size();
  });
}

Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return unusable(folder.string(), error.message() + "; give another folder");
  return {};
}

/// Whether a folder holds nothing, or only the first state that a killed conversion did not finish.
bool is_unused(const fs::path& folder, std::error_code& error) {
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::end(entry);
       entry.increment(error)) {
    if (entry->path().filename() != std::string(OutputFolder::kState) + kAside) return false;
  }
  return !error;
}

}  // namespace

std::string stem_of(const std::string& name) {
  for (const std::string_view ending : kEndings) {
    if (name.size() > ending.size() && name.ends_with(ending)) {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return name;
}

bool OutputFolder::has_state() const {
  std::error_code ignored;
  return fs::exists(state_path(), ignored);
}

Status OutputFolder::check(bool resumes) {
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (!fs::exists(status)) return {};
  if (!fs::is_directory(status)) return unusable(path_, "is no folder; give another one");
  if (!lock_) {
    auto held = lock_folder(path_,
                            "another conversion writes into this folder; wait for it, or "
                            "give another --out");
    if (!held) return pass(held);
    lock_ = std::move(*held);
  }
  const bool unused = is_unused(path_, error);
  if (error) return unusable(path_, error.message() + "; give another folder");
  if (unused || (resumes && has_state())) return {};
  if (has_state()) {
    return unusable(path_, "holds a conversion; give --resume to go on with it, or another folder");
  }
  return unusable(path_, "has other content; give a new or an empty folder");
}

Status OutputFolder::hold(bool resumes) {
  if (auto made = make_folder(path_); !made) return made;
  return check(resumes);
}

Status OutputFolder::check_sizes(const OutputSizes& sizes,
                                 const std::vector<std::vector<std::string>>& files) const {
  for (std::size_t input = 0; input < sizes.size(); ++input) {
    for (std::size_t i = 0; i < sizes[input].size(); ++i) {
      const std::string& file = files[input][i];
      const auto bytes = size_of(file);
      if (!bytes) return missing(path_, file);
      if (*bytes == sizes[input][i]) continue;
      return unusable(path_, file + " was written with " + std::to_string(sizes[input][i]) +
                                 " bytes and has " + std::to_string(*bytes) + kStartAnew);
    }
  }
  return {};
}

// Damaged rows may have left fewer outputs than were named, and nothing tells how many.
Result<OutputSizes> OutputFolder::find_sizes(
    const Position& position, const std::vector<std::vector<std::string>>& files) const {
  OutputSizes sizes(position.split);
  for (std::size_t input = 0; input < sizes.size(); ++input) {
    for (const std::string& file : files[input]) {
      const auto bytes = size_of(file);
      if (!bytes && (sizes[input].empty() || position.bad_rows == 0)) return missing(path_, file);
      if (!bytes) break;
      sizes[input].push_back(*bytes);
    }
  }
  return sizes;
}

Result<ConvertState> OutputFolder::read_state(
    const LoaderState& now, const std::vector<std::vector<std::string>>& files) const {
  auto text = read_whole(state_path(), kMostStateBytes);
  if (!text) return pass(text);
  auto state = parse_loader_state(*text, state_path(), kMostStateBytes);
  if (!state) return pass(state);
  const auto sizes_text = state->identity.extract(kSizes);
  if (state->fingerprint != now.fingerprint) {
    return unusable(path_, "its conversion was of other data files; give another folder");
  }
  if (auto same = check_same_job(*state, now); !same) return pass(same);
  if (state->position.split > files.size()) {
    return unusable(path_, std::string(kState) + ": \"split\" is " +
                               std::to_string(state->position.split) + ", but the job has " +
                               std::to_string(files.size()) + " files; give another folder");
  }
  if (sizes_text.empty()) {
    auto found = find_sizes(state->position, files);
    if (!found) return pass(found);
    return ConvertState{.loader = std::move(*state), .sizes = std::move(*found)};
  }
  auto sizes = parse_output_sizes(sizes_text.mapped());
  if (!sizes || !fit(*sizes, state->position.split, files)) {
    return unusable(path_, std::string(kState) + ": \"" + kSizes +
                               "\" does not fit the files of the job; give another folder");
  }
  if (auto same = check_sizes(*sizes, files); !same) return pass(same);
  return ConvertState{.loader = std::move(*state), .sizes = std::move(*sizes)};
}

Status OutputFolder::write_state(const ConvertState& state) const {
  LoaderState with_sizes = state.loader;
  with_sizes.identity[kSizes] = to_text(state.sizes);
  return replace_whole(state_path(), to_json(with_sizes) + "\n", Sync::kYes);
}

Result<std::vector<std::vector<std::string>>> OutputFolder::paths(const Dataset& dataset,
                                                                  const OutputKind& kind) const {
  std::vector<std::vector<std::string>> all;
  std::map<std::string, std::string> sources;
  for (const DatasetFile& file : dataset.files()) {
    all.push_back(kind.paths(path_ + "/" + stem_of(file.name), file.rows));
    for (const std::string& path : all.back()) {
      const auto [found, is_new] = sources.emplace(path, file.path);
      if (is_new) continue;
      return unusable(path_, found->second + " and " + file.path + " would both become " + path +
                                 "; convert them into folders of their own");
    }
  }
  return all;
}

Status OutputFolder::begin(const ConvertState& state,
                           const std::vector<std::vector<std::string>>& files) const {
  if (auto written = write_state(state); !written) return written;
  for (const auto& paths : files) {
    if (auto made = make_folder(fs::path(paths.front()).parent_path()); !made) return made;
  }
  return {};
}

}  // namespace forebay
