#include "engine/job/job_key.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/clock.h"
#include "engine/job/quantity.h"

namespace forebay {
namespace {

std::string show_number(double number) {
  const bool whole = std::nearbyint(number) == number && std::abs(number) < 1e15;
  return printed(whole ? "%.0f" : "%g", number);
}

std::string describe_range(double low, double high) {
  return " from " + show_number(low) + " to " + show_number(high);
}

std::string show_seconds(double seconds) {
  return format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

/// Returns the value if it is a T.
template <class T>
std::optional<T> held(const ParamValue& value) {
  const auto* own = std::get_if<T>(&value);
  return own != nullptr ? std::optional(*own) : std::nullopt;
}

/// An empty list has the kind of a list of strings.
bool is_empty_list(const ParamValue& value) {
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  return list != nullptr && list->empty();
}

/// Returns the whole or fractional number that `value` is.
std::optional<double> number_in(const ParamValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return held<double>(value);
}

std::optional<std::uint64_t> size_in(const ParamValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return parse_size(*text);
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole == nullptr || *whole < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*whole);
}

/// Returns seconds; those of a text are exact to the nanosecond.
std::optional<std::chrono::nanoseconds> time_in(const ParamValue& value, double most_seconds) {
  if (const auto* text = std::get_if<std::string>(&value)) return parse_duration(*text);
  const auto seconds = number_in(value);
  if (!seconds || !(std::abs(*seconds) <= most_seconds)) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

/// Returns the character, '\0' for no character; nullopt for anything else.
std::optional<char> letter_in(const ParamValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr || text->size() > 1) return std::nullopt;
  if (text->empty()) return '\0';
  const char c = text->front();
  const bool usable =
      static_cast<unsigned char>(c) < 128 && c != '"' && c != '\n' && c != '\r' && c != '\0';
  return usable ? std::optional(c) : std::nullopt;
}

/// A key whose member takes what `convert` makes of a value.
template <class T, class Convert>
JobKey converted(std::string name, T& into, std::string wanted, Convert convert) {
  return {std::move(name), std::move(wanted), [&into, convert](const ParamValue& value) {
            auto made = convert(value);
            if (made) into = static_cast<T>(std::move(*made));
            return made.has_value();
          }};
}

}  // namespace

std::optional<std::int64_t> whole_in(const ParamValue& value, double low, double high) {
  const auto* whole = std::get_if<std::int64_t>(&value);
  if (whole == nullptr) return std::nullopt;
  const auto number = static_cast<double>(*whole);
  return number >= low && number <= high ? std::optional(*whole) : std::nullopt;
}

std::string describe_count(double low, double high) {
  if (high < kAnyCount) return "a whole number" + describe_range(low, high);
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return "a whole number from " + show_number(low) + " to " + std::to_string(kMost);
}

JobKey counts(std::string name, std::vector<int>& into, double low, double high) {
  return converted(std::move(name), into,
                   "a list of whole numbers" + describe_range(low, high) + ", at least one",
                   [low, high](const ParamValue& value) -> std::optional<std::vector<int>> {
                     std::vector<int> made;
                     const auto* list = std::get_if<std::vector<std::int64_t>>(&value);
                     if (list == nullptr) return std::nullopt;
                     for (const std::int64_t item : *list) {
                       if (!whole_in(item, low, high)) return std::nullopt;
                       made.push_back(static_cast<int>(item));
                     }
                     return made;
                   });
}

JobKey number(std::string name, double& into, double low, double high) {
  return converted(std::move(name), into, "a number" + describe_range(low, high),
                   [low, high](const ParamValue& value) {
                     const auto number = number_in(value);
                     const bool within = number && *number >= low && *number <= high;
                     return within ? number : std::nullopt;
                   });
}

JobKey number(std::string name, std::optional<double>& into) {
  return converted(std::move(name), into, "a number", [](const ParamValue& value) {
    const auto number = number_in(value);
    return number && std::isfinite(*number) ? number : std::nullopt;
  });
}

JobKey size(std::string name, std::uint64_t& into, double low, double high) {
  const auto shown = [](double bytes) { return format_size(static_cast<std::uint64_t>(bytes)); };
  return converted(std::move(name), into,
                   "a size such as 512MiB, from " + shown(low) + " to " + shown(high),
                   [low, high](const ParamValue& value) {
                     const auto bytes = size_in(value);
                     const double number = bytes ? static_cast<double>(*bytes) : -1;
                     return number >= low && number <= high ? bytes : std::nullopt;
                   });
}

JobKey duration(std::string name, std::chrono::nanoseconds& into, double low, double high) {
  return converted(
      std::move(name), into,
      "a time such as 250ms or 5s, from " + show_seconds(low) + " to " + show_seconds(high),
      [low, high](const ParamValue& value) {
        const auto time = time_in(value, high);
        const double seconds = time ? in_seconds(*time) : -1;
        return seconds >= low && seconds <= high ? time : std::nullopt;
      });
}

JobKey flag(std::string name, bool& into) {
  return converted(std::move(name), into, "true or false", held<bool>);
}

JobKey text(std::string name, std::string& into) {
  return converted(std::move(name), into, "a string", held<std::string>);
}

JobKey texts(std::string name, std::vector<std::string>& into) {
  return converted(std::move(name), into, "a list of strings",
                   [](const ParamValue& value) -> std::optional<std::vector<std::string>> {
                     if (const auto* one = std::get_if<std::string>(&value)) return {{*one}};
                     return held<std::vector<std::string>>(value);
                   });
}

JobKey letter(std::string name, char& into) {
  return converted(std::move(name), into, "one ASCII character", [](const ParamValue& value) {
    const auto letter = letter_in(value);
    return letter != '\0' ? letter : std::nullopt;
  });
}

JobKey letter(std::string name, std::string& into) {
  return converted(std::move(name), into, "one ASCII character, or \"\"",
                   [](const ParamValue& value) -> std::optional<std::string> {
                     const auto letter = letter_in(value);
                     if (!letter) return std::nullopt;
                     return *letter == '\0' ? std::string() : std::string(1, *letter);
                   });
}

JobKey credentials(std::string name, std::string& into) {
  return {std::move(name),
          "\"env\", \"profile:NAME\" or \"anonymous\"; keys never stand in a job file",
          [&into](const ParamValue& value) {
            constexpr std::string_view kProfile = "profile:";
            const auto* text = std::get_if<std::string>(&value);
            if (text == nullptr) return false;
            const bool profile = text->starts_with(kProfile) && text->size() > kProfile.size();
            if (!profile && *text != "env" && *text != "anonymous") return false;
            into = *text;
            return true;
          }};
}

JobKey shuffle(std::string name, OrderSpec::Shuffle& into) {
  using Shuffle = OrderSpec::Shuffle;
  return converted(std::move(name), into, "true, false or \"file\"",
                   [](const ParamValue& value) -> std::optional<Shuffle> {
                     if (const auto* flag = std::get_if<bool>(&value)) {
                       return *flag ? Shuffle::kAll : Shuffle::kNone;
                     }
                     const auto* text = std::get_if<std::string>(&value);
                     if (text == nullptr || *text != "file") return std::nullopt;
                     return Shuffle::kFile;
                   });
}

JobKey groups(std::string name, std::vector<std::vector<std::string>>& into) {
  using Groups = std::vector<std::vector<std::string>>;
  return converted(std::move(name), into,
                   R"(a list of lists of columns, as in [["user_id", "history_*"]])",
                   [](const ParamValue& value) -> std::optional<Groups> {
                     if (is_empty_list(value)) return Groups();
                     auto groups = held<Groups>(value);
                     const auto is_empty = [](const auto& group) { return group.empty(); };
                     if (groups && std::ranges::any_of(*groups, is_empty)) return std::nullopt;
                     return groups;
                   });
}

JobKey fuse(std::string name, FuseSpec& into) {
  using How = FuseSpec::How;
  return converted(std::move(name), into,
                   R"("auto", false, or a list of lists of stages, as in [["load", "decode"]])",
                   [](const ParamValue& value) -> std::optional<FuseSpec> {
                     if (const auto* flag = std::get_if<bool>(&value)) {
                       return *flag ? std::nullopt : std::optional(FuseSpec{.how = How::kNever});
                     }
                     if (const auto* text = std::get_if<std::string>(&value)) {
                       return *text == "auto" ? std::optional(FuseSpec{.how = How::kAuto})
                                              : std::nullopt;
                     }
                     if (is_empty_list(value)) return FuseSpec{.how = How::kListed};
                     const auto groups = held<std::vector<std::vector<std::string>>>(value);
                     if (!groups) return std::nullopt;
                     return FuseSpec{.how = How::kListed, .groups = *groups};
                   });
}

JobKey choice(std::string name, std::string& into, std::vector<std::string_view> words) {
  std::string wanted;
  for (const std::string_view word : words) wanted.append(wanted.empty() ? "" : " | ").append(word);
  auto key = converted(std::move(name), into, wanted, [words](const ParamValue& value) {
    const auto text = held<std::string>(value);
    return text && std::ranges::find(words, *text) != words.end() ? text : std::nullopt;
  });
  key.choices = std::move(words);
  return key;
}

namespace {

template <class T>
void show_list(const ParamValue& value, std::string& text) {
  const auto* list = std::get_if<std::vector<T>>(&value);
  if (list == nullptr) return;
  for (const T& item : *list) text += (text.empty() ? "" : ", ") + show_value(ParamValue(item));
  text = "[" + text + "]";
}

}  // namespace

std::string show_value(const ParamValue& value) {
  std::string text;
  if (const auto* flag = std::get_if<bool>(&value)) text = *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) text = std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) {
    text = show_number(*number);
    // A fraction of zero is what may be wrong with it.
    if (text.find_first_not_of("-0123456789") == text.npos) text += ".0";
  }
  if (const auto* words = std::get_if<std::string>(&value)) text = '"' + *words + '"';
  show_list<std::int64_t>(value, text);
  show_list<double>(value, text);
  show_list<std::string>(value, text);
  if (text.empty()) text = "a list of lists";
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 32; }, '?');
  constexpr std::size_t kMostShown = 60;
  return text.size() <= kMostShown ? text : text.substr(0, kMostShown) + "…";
}

}  // namespace forebay
