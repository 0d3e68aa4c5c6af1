#include "engine/run/decision_text.h"

namespace forebay {
namespace {

void append(std::string& words, const std::string& more) {
  words += (words.empty() ? "" : ", ") + more;
}

void append_change(std::string& words, const std::string& name, std::uint32_t from,
                   std::uint32_t to) {
  if (from == to) return;
  append(words, name + " " + std::to_string(from) + " -> " + std::to_string(to));
}

}  // namespace

std::string describe(const tuner::Decision& decision,
                     const tuner::PipelineDescription& description) {
  std::string words;
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    append_change(words, description.stages[i].name, decision.seen.stages[i].actors,
                  decision.applied.actors[i]);
  }
  append_change(words, "prefetch", decision.seen.prefetch, decision.applied.prefetch);
  if (words.empty()) words = "no change";
  if (!decision.proposal.reason.empty()) words += ": " + decision.proposal.reason;
  return words;
}

std::string describe(const tuner::Allocation& allocation,
                     const tuner::PipelineDescription& description) {
  std::string words;
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    append(words, description.stages[i].name + " " + std::to_string(allocation.actors[i]));
  }
  append(words, "prefetch " + std::to_string(allocation.prefetch));
  return words;
}

}  // namespace forebay
