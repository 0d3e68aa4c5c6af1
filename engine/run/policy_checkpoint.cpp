#include "engine/run/policy_checkpoint.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/whole_file.h"
#include "core/data/digest.h"

namespace forebay {
namespace {

constexpr std::string_view kFormat = "forebay-experience ";
constexpr std::string_view kKind = "forebay-experience 1 ";
constexpr std::size_t kMostPolicyBytes = std::size_t{64} << 20;
constexpr int kBetweenKeeping = 32;

std::string head_of(const std::string& learned_state) {
  return std::string(kKind) + Digest::of(learned_state.data(), learned_state.size()).hex() + '\n';
}

}  // namespace

Result<std::string> LearnedStateFile::read() const {
  auto text = read_whole(path_, kMostPolicyBytes);
  if (!text) return text;
  if (text->starts_with(kFormat) && !text->starts_with(kKind)) {
    return fail(Code::kInvalid, path_ + " is of another version");
  }
  const std::size_t end = text->find('\n');
  std::string learned_state = end == std::string::npos ? std::string() : text->substr(end + 1);
  if (end == std::string::npos || text->substr(0, end + 1) != head_of(learned_state)) {
    return fail(Code::kCorrupt, path_ + " is damaged");
  }
  return learned_state;
}

Status LearnedStateFile::write(const std::string& learned_state) const {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), error);
  return replace_whole(path_, head_of(learned_state) + learned_state, Sync::kNo);
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
    const Status written = file_.write(learned_state);
    if (!written && lost_) std::exchange(lost_, {})(written.error().message);
  } catch (...) {  // NOLINT: whatever a policy throws, the job goes on.
  }
}

}  // namespace forebay
