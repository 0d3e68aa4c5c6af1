#include "actors/loader_state.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/text/json_text.h"
#include "core/base/text/number.h"

namespace forebay {
namespace {

using nlohmann::json;

constexpr std::uint64_t kFirstVersion = 1;
constexpr const char* kVersionKey = "version";
constexpr const char* kChecksumKey = "checksum";
constexpr const char* kDigestKey = "digest";
// A state lists at most the splits of one window; a longer list means a damaged file.
constexpr std::size_t kMostAhead = 1 << 20;

using Counter = std::pair<const char*, std::uint64_t Position::*>;
constexpr Counter kCounters[] = {
    {"epoch", &Position::epoch},           {"split", &Position::split},
    {"split_rows", &Position::split_rows}, {"open_split", &Position::open_split},
    {"batches", &Position::batches},       {"rows", &Position::rows},
};
// States of ranks lack these, and the digest.
constexpr Counter kCountedCounters[] = {{"bad_rows", &Position::bad_rows},
                                        {"held_out", &Position::held_out}};
// Written where rows are sampled away. Programs that did not count them could not resume there.
constexpr Counter kSampled = {"sampled", &Position::sampled};
// Version 1 lacks this counter.
constexpr Counter kLeftOut = {"left_out", &Position::left_out};

std::string ranges_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[first]);
    if (last > first) text += '-' + std::to_string(numbers[last]);
    first = last + 1;
  }
  return text;
}

// Parses distances from a split that is not in the list, so they begin at 1 and increase.
std::optional<std::vector<std::uint32_t>> parse_ranges(std::string_view text) {
  std::vector<std::uint32_t> numbers;
  std::uint32_t before = 0;
  while (!text.empty()) {
    const auto first = take_number<std::uint32_t>(text);
    auto last = first;
    if (first && text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number<std::uint32_t>(text);
    }
    if (!first || !last || *first <= before || *last < *first) return std::nullopt;
    if (*last - *first >= kMostAhead - numbers.size()) return std::nullopt;
    before = *last;
    for (std::uint64_t number = *first; number <= *last; ++number) {
      numbers.push_back(static_cast<std::uint32_t>(number));
    }
    if (text.empty()) break;
    if (!text.starts_with(',') || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return numbers;
}

/// Reads the values of an object key by key and remembers the first error.
class KeyReader {
 public:
  KeyReader(json object, const char* name, std::string& problem)
      : object_(std::move(object)), problem_(problem) {
    if (!object_.is_object()) refuse(name, "is no object");
  }

  std::uint64_t number(const char* key) {
    const json value = take(key);
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    refuse(key, "is no whole number");
    return 0;
  }

  std::string text(const char* key) {
    const json value = take(key);
    if (value.is_string()) return value.get<std::string>();
    refuse(key, "is no text");
    return {};
  }

  json take(const char* key) {
    if (!problem_.empty()) return {};
    const auto found = object_.find(key);
    if (found == object_.end()) {
      refuse(key, "is missing");
      return {};
    }
    json value = std::move(*found);
    object_.erase(found);
    return value;
  }

  bool has(const char* key) const { return object_.contains(key); }

  /// Returns all remaining keys as texts.
  std::map<std::string, std::string> texts() {
    std::map<std::string, std::string> all;
    while (problem_.empty() && !object_.empty()) {
      const std::string key = object_.begin().key();
      all[key] = text(key.c_str());
    }
    return all;
  }

  /// Reports an error if a key is left after the last expected one.
  void finish() {
    if (problem_.empty() && !object_.empty()) refuse(object_.begin().key(), "is unknown");
  }

  void refuse(const std::string& key, const char* what) {
    if (problem_.empty()) problem_ = "\"" + key.substr(0, 40) + "\" " + what;
  }

 private:
  json object_;
  std::string& problem_;
};

/// Reads what the states of ranks lack.
void read_counted(KeyReader& keys, Position& position) {
  for (const auto& [name, member] : kCountedCounters) position.*member = keys.number(name);
  if (keys.has(kSampled.first)) position.sampled = keys.number(kSampled.first);
  if (!Digest::parse(keys.text(kDigestKey), position.digest)) {
    keys.refuse(kDigestKey, "is not of 32 hex digits");
  }
}

/// Reads the fields of a position that both versions have.
Position read_position(KeyReader& keys) {
  Position position;
  for (const auto& [name, member] : kCounters) position.*member = keys.number(name);
  position.of_ranks = !keys.has(kDigestKey) && !keys.has(kCountedCounters[0].first);
  if (!position.of_ranks) read_counted(keys, position);
  auto ahead = parse_ranges(keys.text("ahead"));
  if (ahead) {
    position.ahead = std::move(*ahead);
  } else {
    keys.refuse("ahead", "is no rising list such as 5-9,12");
  }
  return position;
}

/// The digest of everything but the checksum itself, as JSON without blanks and with its keys in
/// bytewise order, as `json_text` writes it.
std::string checksum_of(json object) {
  object.erase(kChecksumKey);
  const std::string text = json_text(object);
  return Digest::of(text.data(), text.size()).hex();
}

LoaderState read_flat(json object, std::string& problem) {
  const std::string checksum = checksum_of(object);
  KeyReader keys(std::move(object), "the state", problem);
  if (keys.text(kChecksumKey) != checksum) {
    keys.refuse(kChecksumKey, "does not fit the other values: they were damaged or edited");
  }
  LoaderState state;
  state.version = keys.number(kVersionKey);
  state.fingerprint = keys.text("fingerprint");
  state.position = read_position(keys);
  if (!state.position.of_ranks) state.position.left_out = keys.number(kLeftOut.first);
  state.identity = keys.texts();
  return state;
}

LoaderState read_nested(json object, std::string& problem) {
  KeyReader keys(std::move(object), "the state", problem);
  LoaderState state;
  state.version = keys.number(kVersionKey);
  state.fingerprint = keys.text("fingerprint");
  KeyReader position(keys.take("position"), "position", problem);
  KeyReader identity(keys.take("identity"), "identity", problem);
  keys.finish();
  state.position = read_position(position);
  position.finish();
  state.identity = identity.texts();
  return state;
}

void write_counted(const Position& position, json& object) {
  for (const auto& [name, member] : kCountedCounters) object[name] = position.*member;
  object[kLeftOut.first] = position.left_out;
  if (position.sampled > 0) object[kSampled.first] = position.sampled;
  object[kDigestKey] = position.digest.hex();
}

}  // namespace

std::string to_json(const LoaderState& state) {
  json object(state.identity);
  object[kVersionKey] = LoaderState::kVersion;
  object["fingerprint"] = state.fingerprint;
  for (const auto& [name, member] : kCounters) object[name] = state.position.*member;
  if (!state.position.of_ranks) write_counted(state.position, object);
  object["ahead"] = ranges_of(state.position.ahead);
  object[kChecksumKey] = checksum_of(object);
  return json_text(object) + "\n";
}

Result<LoaderState> parse_loader_state(const std::string& text, const std::string& where,
                                       std::size_t most_bytes) {
  const auto refused = [&](const std::string& what) {
    return fail(Code::kCorrupt,
                where + ": " + what + "; resume from an undamaged state, or start anew without it");
  };
  if (text.size() > most_bytes) return refused("not a loader state (too large)");
  json object = parse_json(text);
  if (!object.is_object()) return refused("not a loader state");
  const auto version = object.find(kVersionKey);
  if (version == object.end() || !version->is_number_unsigned()) {
    return refused("a loader state whose \"version\" is no number, or not there");
  }
  if (*version < kFirstVersion) return refused("a loader state of version 0, which never was");
  if (const auto number = version->get<std::uint64_t>(); number > LoaderState::kVersion) {
    return fail(Code::kInvalid, where + ": a loader state of version " + std::to_string(number) +
                                    "; this program reads versions 1 and 2: use the program that "
                                    "wrote it, or start anew");
  }
  std::string problem;
  LoaderState state = *version == kFirstVersion ? read_nested(std::move(object), problem)
                                                : read_flat(std::move(object), problem);
  if (!problem.empty()) return refused("a damaged loader state: " + problem);
  return state;
}

std::string note_of_version(const LoaderState& state, const std::string& where) {
  if (state.version == LoaderState::kVersion) return {};
  return where + ": a loader state of version " + std::to_string(state.version) +
         ", which has no checksum; its numbers were checked, and states are written in version " +
         std::to_string(LoaderState::kVersion);
}

Status check_same_job(const LoaderState& saved, const LoaderState& now) {
  if (saved.fingerprint != now.fingerprint) {
    return fail(Code::kInvalid,
                "resume refused: the dataset is another one or has changed (its "
                "fingerprint was " +
                    saved.fingerprint + ", is " + now.fingerprint + ")");
  }
  std::string differences;
  const auto add = [&](const std::string& key, const std::string& was, const std::string& is) {
    if (!differences.empty()) differences += "; ";
    differences += key + " was " + was + ", is " + is;
  };
  for (const auto& [key, was] : saved.identity) {
    const auto found = now.identity.find(key);
    if (found == now.identity.end()) {
      add(key, was, "not set");
    } else if (found->second != was) {
      add(key, was, found->second);
    }
  }
  for (const auto& [key, is] : now.identity) {
    if (!saved.identity.contains(key)) add(key, "not set", is);
  }
  if (differences.empty()) return {};
  return fail(Code::kInvalid, "resume refused: " + differences);
}

}  // namespace forebay
