#include "actors/transform/param_reader.h"

#include <array>
#include <charconv>

namespace forebay {
namespace {

std::string show(std::int64_t value) { return std::to_string(value); }

std::string show(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

template <class Number>
bool within(Number value, const Range<Number>& range) {
  return value >= range.low && value <= range.high;  // false for a NaN
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
std::string out_of_range(Number value, const Range<Number>& range) {
  return "must be " + show(range) + ", not " + show(value);
}

}  // namespace

const ParamValue* ParamReader::find(const std::string& key) const {
  const auto found = request_.spec().params.find(key);
  return found == request_.spec().params.end() ? nullptr : &found->second;
}

const ParamValue* ParamReader::need(const std::string& key, const std::string& kind) {
  const ParamValue* value = find(key);
  if (value == nullptr) refuse(key, "is missing; give " + kind);
  return value;
}

std::int64_t ParamReader::integer(const std::string& key, Range<std::int64_t> range) {
  const ParamValue* value = need(key, "a whole number");
  if (value == nullptr) return range.low;
  const auto* integer = std::get_if<std::int64_t>(value);
  if (integer == nullptr) {
    refuse(key, "must be a whole number");
    return range.low;
  }
  if (!within(*integer, range)) refuse(key, out_of_range(*integer, range));
  return *integer;
}

std::int64_t ParamReader::integer_or(const std::string& key, std::int64_t otherwise,
                                     Range<std::int64_t> range) {
  return has(key) ? integer(key, range) : otherwise;
}

double ParamReader::number(const std::string& key, Range<double> range) {
  const ParamValue* value = need(key, "a number");
  if (value == nullptr) return range.low;
  double number = 0;
  if (const auto* real = std::get_if<double>(value)) {
    number = *real;
  } else if (const auto* integer = std::get_if<std::int64_t>(value)) {
    number = static_cast<double>(*integer);
  } else {
    refuse(key, "must be a number");
    return range.low;
  }
  if (!within(number, range)) refuse(key, out_of_range(number, range));
  return number;
}

double ParamReader::number_or(const std::string& key, double otherwise, Range<double> range) {
  return has(key) ? number(key, range) : otherwise;
}

std::string ParamReader::text(const std::string& key) {
  const ParamValue* value = need(key, "a string");
  if (value == nullptr) return {};
  if (const auto* text = std::get_if<std::string>(value)) return *text;
  refuse(key, "must be a string");
  return {};
}

std::string ParamReader::text_or(const std::string& key, const std::string& otherwise) {
  return has(key) ? text(key) : otherwise;
}

std::vector<std::int64_t> ParamReader::integers(const std::string& key) {
  const ParamValue* value = need(key, "a list of whole numbers");
  if (value == nullptr) return {};
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(value)) return *integers;
  refuse(key, "must be a list of whole numbers");
  return {};
}

std::vector<double> ParamReader::numbers(const std::string& key) {
  const ParamValue* value = need(key, "a list of numbers");
  if (value == nullptr) return {};
  if (const auto* numbers = std::get_if<std::vector<double>>(value)) return *numbers;
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(value)) {
    return {integers->begin(), integers->end()};
  }
  refuse(key, "must be a list of numbers");
  return {};
}

std::vector<std::string> ParamReader::texts_or_none(const std::string& key) {
  if (!has(key)) return {};
  if (const auto* texts = std::get_if<std::vector<std::string>>(find(key))) return *texts;
  refuse(key, "must be a list of strings");
  return {};
}

}  // namespace forebay
