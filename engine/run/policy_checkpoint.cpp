#include "engine/run/policy_checkpoint.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "actors/loader_state.h"
#include "core/base/whole_file.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTunerFolder = "tuner/";
constexpr std::string_view kFormat = "forebay-experience ";
constexpr std::string_view kKind = "forebay-experience 1 ";
constexpr std::size_t kMostPolicyBytes = std::size_t{64} << 20;
constexpr int kBetweenKeeping = 32;

std::string head_of(const std::string& learned_state) {
  return std::string(kKind) + Digest::of(learned_state.data(), learned_state.size()).hex() + '\n';
}

}  // namespace

std::string name_of_work(const JobRun& run) {
  const LoaderState state = run.state({});
  std::string text;
  for (const char* key : {"transform", "columns", "dataset.format", "order.batch_size"}) {
    text += state.identity.at(key) + '\n';
  }
  return Digest::of(text.data(), text.size()).hex().substr(0, 16);
}

Result<std::string> read_learned_state(const std::string& path) {
  auto text = read_whole(path, kMostPolicyBytes);
  if (!text) return text;
  if (text->starts_with(kFormat) && !text->starts_with(kKind)) {
    return fail(Code::kInvalid, path + " is of another version");
  }
  const std::size_t end = text->find('\n');
  std::string learned_state = end == std::string::npos ? std::string() : text->substr(end + 1);
  if (end == std::string::npos || text->substr(0, end + 1) != head_of(learned_state)) {
    return fail(Code::kCorrupt, path + " is damaged");
  }
  return learned_state;
}

Status write_learned_state(const std::string& path, const std::string& learned_state) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  return replace_whole(path, head_of(learned_state) + learned_state, Sync::kNo);
}

PolicyCheckpoint::~PolicyCheckpoint() { keep(); }

tuner::Proposal PolicyCheckpoint::decide(const tuner::Observation& seen) {
  tuner::Proposal proposal = policy_->decide(seen);
  if (++decisions_ % kBetweenKeeping == 0) keep();
  return proposal;
}

void PolicyCheckpoint::keep() noexcept {
  if (decisions_ == 0) return;
  try {
    const std::string learned_state = policy_->learned_state();
    if (learned_state.empty()) return;
    const Status written = write_learned_state(path_, learned_state);
    if (!written && lost_) std::exchange(lost_, {})(written.error().message);
  } catch (...) {  // NOLINT: whatever a policy throws, the job goes on.
  }
}

std::map<std::string, std::string> saved_learned_state(const std::string& run_dir) {
  std::map<std::string, std::string> kept;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(run_dir) / kTunerFolder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kAside)) continue;
    auto text = read_whole(entry.path(), kMostPolicyBytes);
    if (text) kept.emplace(std::string(kTunerFolder) + name, std::move(*text));
  }
  return kept;
}

void restore_learned_state(const std::map<std::string, std::string>& texts,
                           const std::string& run_dir) {
  for (const auto& [name, text] : texts) {
    if (!name.starts_with(kTunerFolder)) continue;
    const fs::path path = fs::path(run_dir) / name;
    std::error_code error;
    if (fs::exists(path, error)) continue;
    fs::create_directories(path.parent_path(), error);
    static_cast<void>(replace_whole(path, text, Sync::kNo));
  }
}

}  // namespace forebay
