#include "engine/loader/loader_error.h"

#include <algorithm>

#include "engine/job/job_keys.h"

namespace forebay {
namespace {

bool is_of_a_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/// Whether `word` is a key that no table lists: of a stage's actors, or of an operator.
bool is_numbered_or_named(std::string_view word) {
  constexpr std::string_view kTransform = "transform.";
  return word.starts_with(kAllocationKey) ||
         (word.starts_with(kTransform) && word.find('.', kTransform.size()) != word.npos);
}

LoaderError made(LoaderError::Code code, const Error& error) {
  return {.code = code, .message = error.message, .key = job_key_in(error.message)};
}

}  // namespace

std::string job_key_in(std::string_view message) {
  const auto keys = job_key_names();
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    while (end < message.size() && is_of_a_key(message[end])) ++end;
    std::string_view word = message.substr(at, end - at);
    while (word.ends_with('.')) word.remove_suffix(1);
    if (std::ranges::find(keys, word) != keys.end() || is_numbered_or_named(word)) {
      return std::string(word);
    }
    at = end + 1;
  }
  return "";
}

LoaderError opening_error(const Error& error) {
  if (error.code == Code::kCorrupt) return made(LoaderError::Code::kData, error);
  const bool refused = error.code == Code::kUnavailable || error.code == Code::kTimeout;
  return made(refused ? LoaderError::Code::kUnavailable : LoaderError::Code::kConfig, error);
}

LoaderError stream_error(const Error& error) {
  if (error.code == Code::kTimeout) return made(LoaderError::Code::kStalled, error);
  const bool refused = error.code == Code::kUnavailable || error.code == Code::kOverloaded;
  return made(refused ? LoaderError::Code::kUnavailable : LoaderError::Code::kData, error);
}

}  // namespace forebay
