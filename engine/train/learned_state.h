#pragma once

#include <map>
#include <string>

namespace forebay {

/// What the tuner's policies have learned in `run_dir`, as small files of a checkpoint:
/// "tuner/POLICY-WORK" and its content. What cannot be read is left out.
std::map<std::string, std::string> saved_learned_state(const std::string& run_dir);

/// Puts what a checkpoint holds of it into `run_dir`, where there is none of that name: a resume on
/// another machine goes on with it. What cannot be written is let go, as no job fails for it.
void restore_learned_state(const std::map<std::string, std::string>& texts,
                           const std::string& run_dir);

}  // namespace forebay
