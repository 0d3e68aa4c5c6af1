#pragma once

#include <map>
#include <string>

namespace forebay {

/// Returns the learned states of the tuner's policies in `run_dir`, as small files of a checkpoint:
/// "tuner/POLICY-WORK" → content. Files that cannot be read are left out.
std::map<std::string, std::string> saved_learned_state(const std::string& run_dir);

/// Writes a checkpoint's learned states into `run_dir` unless files of these names exist, so that a
/// resume on another machine continues with them. Files that cannot be written are skipped; no job
/// fails for them.
void restore_learned_state(const std::map<std::string, std::string>& texts,
                           const std::string& run_dir);

}  // namespace forebay
