#include "actors/transform/op_request.h"

#include <array>
#include <charconv>

#include "actors/operator_table.h"
#include "core/base/text/nearest.h"

namespace forebay {
namespace {

std::string show(std::int64_t value) { return std::to_string(value); }

std::string show(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

template <class Number>
std::string show(const Range<Number>& range) {
  const bool low = range.low > std::numeric_limits<Number>::lowest();
  const bool high = range.high < std::numeric_limits<Number>::max();
  if (low && high) return "from " + show(range.low) + " to " + show(range.high);
  if (low) return "at least " + show(range.low);
  if (high) return "at most " + show(range.high);
  return "finite";
}

template <class Number>
Number checked(OpRequest& request, const std::string& key, Number value,
               const Range<Number>& range) {
  const bool within = value >= range.low && value <= range.high;  // false for a NaN
  if (!within) request.refuse(key, "must be " + show(range) + ", not " + show(value));
  return value;
}

}  // namespace

std::string OpRequest::name() const { return operator_table(number_ - 1) + " (" + spec_.op + ")"; }

std::string OpRequest::label() const {
  return "transform " + std::to_string(number_) + " (" + spec_.op + ")";
}

void OpRequest::refuse(const std::string& what) {
  if (!refused()) status_ = fail(Code::kInvalid, name() + ": " + what);
}

const ParamValue* OpRequest::find(const std::string& key) const {
  const auto found = spec_.params.find(key);
  return found == spec_.params.end() ? nullptr : &found->second;
}

/// The value of `key`, or nullptr after an error.
template <class T>
const T* OpRequest::held(const std::string& key, const std::string& kind) {
  const ParamValue* value = find(key);
  const T* held = std::get_if<T>(value);
  if (held == nullptr) refuse(key, (value == nullptr ? "is missing; give " : "must be ") + kind);
  return held;
}

template <class T>
T OpRequest::copy(const std::string& key, const std::string& kind) {
  const T* value = held<T>(key, kind);
  return value == nullptr ? T() : *value;
}

std::int64_t OpRequest::integer(const std::string& key, Range<std::int64_t> range) {
  const auto* integer = held<std::int64_t>(key, "a whole number");
  return integer == nullptr ? range.low : checked(*this, key, *integer, range);
}

double OpRequest::number(const std::string& key, Range<double> range) {
  if (const auto* integer = std::get_if<std::int64_t>(find(key))) {
    return checked(*this, key, static_cast<double>(*integer), range);
  }
  const auto* real = held<double>(key, "a number");
  return real == nullptr ? range.low : checked(*this, key, *real, range);
}

std::string OpRequest::text(const std::string& key) { return copy<std::string>(key, "a string"); }

std::vector<std::int64_t> OpRequest::integers(const std::string& key) {
  return copy<std::vector<std::int64_t>>(key, "a list of whole numbers");
}

std::vector<double> OpRequest::numbers(const std::string& key) {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(find(key))) {
    return {integers->begin(), integers->end()};
  }
  return copy<std::vector<double>>(key, "a list of numbers");
}

std::vector<std::string> OpRequest::texts_or_none(const std::string& key) {
  if (!has(key)) return {};
  return copy<std::vector<std::string>>(key, "a list of strings");
}

std::string did_you_mean(const std::string& wrong, const std::vector<std::string>& candidates) {
  const std::vector<std::string_view> names(candidates.begin(), candidates.end());
  const std::string_view nearest = nearest_of(wrong, names);
  return nearest.empty() ? "" : "; did you mean \"" + std::string(nearest) + "\"?";
}

}  // namespace forebay
