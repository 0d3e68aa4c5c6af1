#include "engine/loader/loader_error.h"

#include <algorithm>

#include "engine/job/job_keys.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

bool is_of_a_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

std::size_t end_of_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_of_a_key(text[at])) ++at;
  return at;
}

/// The word that begins there, without the full stop of a sentence.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::string_view word = text.substr(at, end_of_word(text, at) - at);
  while (word.ends_with('.')) word.remove_suffix(1);
  return word;
}

/// Whether `word` is a key that no table lists: of a stage's actors, or of an operator.
bool is_numbered_or_named(std::string_view word) {
  constexpr std::string_view kTransform = "transform.";
  return word.starts_with(kAllocationKey) ||
         (word.starts_with(kTransform) && word.find('.', kTransform.size()) != word.npos);
}

/// Returns `transform.2.stage` for "[[transform]] number 3: stage must be"; else "".
std::string operator_key_in(std::string_view message) {
  constexpr std::string_view kTable = "[[transform]] number ";
  const std::size_t at = message.find(kTable);
  if (at == message.npos) return "";
  message.remove_prefix(at + kTable.size());
  const std::size_t colon = message.find_first_not_of("0123456789");
  const auto number = parse_count(message.substr(0, colon));
  if (!number || *number == 0 || !message.substr(colon).starts_with(": ")) return "";
  return "transform." + std::to_string(*number - 1) + "." +
         std::string(word_at(message, colon + 2));
}

LoaderError made(LoaderError::Code code, const Error& error) {
  return {.code = code, .message = error.message, .key = job_key_in(error.message)};
}

}  // namespace

std::string job_key_in(std::string_view message) {
  constexpr std::string_view kUnknown = "unknown key ";
  if (const std::size_t at = message.find(kUnknown); at != message.npos) {
    return std::string(word_at(message, at + kUnknown.size()));
  }
  if (auto key = operator_key_in(message); !key.empty()) return key;
  message = message.substr(0, message.find(", as in "));  // An example has another key.
  const auto keys = job_key_names();
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = end_of_word(message, at);
    const std::string_view word = word_at(message, at);
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
