#include "engine/modelled/toml_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/text/nearest.h"
#include "core/base/text/text.h"
#include "engine/job/quantity.h"
#include "engine/job/toml_text.h"

namespace forebay {
namespace {

constexpr std::size_t kMostNameBytes = 200;

std::string shown(const toml::node& node) {
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (const auto* string = node.as_string()) return '"' + string->get().substr(0, 60) + '"';
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  if (!node.is_floating_point()) return "a date";
  return printed("%g", node.as_floating_point()->get());
}

/// Rounds integers from 2^53 on, which node.value<double>() refuses.
std::optional<double> number_of(const toml::node* node) {
  if (node == nullptr) return std::nullopt;
  if (const auto* whole = node->as_integer()) return static_cast<double>(whole->get());
  return node->value<double>();
}

/// Compares whole numbers, since a double rounds those above 2^53.
bool is_within(std::int64_t whole, double low, double high) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t most = high < 0x1p63 ? static_cast<std::int64_t>(high) : kMost;
  return static_cast<double>(whole) >= low && whole <= most;
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= kMostNameBytes &&
         std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

TomlFields::TomlFields(std::string_view file, const toml::table& table, std::string prefix,
                       std::vector<std::string_view> tables)
    : file_(file),
      table_(table),
      prefix_(std::move(prefix)),
      where_(prefix_.empty() ? std::string(file) : at_line(file, table)),
      known_(std::move(tables)) {}

std::string TomlFields::read(const toml::node* node, std::string& into, const Range& /*range*/) {
  const auto* text = node == nullptr ? nullptr : node->as_string();
  if (text == nullptr || !is_name(text->get())) {
    return "a name: text of 1 to 200 characters without control characters";
  }
  into = text->get();
  return "";
}

std::string TomlFields::read(const toml::node* node, double& into, const Range& range) {
  const auto number = number_of(node);
  if (!number || !(*number >= range.low && *number <= range.high)) {
    return printed("a number from %g to %g", range.low, range.high);
  }
  into = *number;
  return "";
}

std::string TomlFields::read(const toml::node* node, std::int64_t& into, const Range& range) {
  const auto* whole = node == nullptr ? nullptr : node->as_integer();
  if (whole == nullptr || !is_within(whole->get(), range.low, range.high)) {
    return printed("a whole number from %.0f to %.0f", range.low, range.high);
  }
  into = whole->get();
  return "";
}

std::string TomlFields::read(const toml::node* node, bool& into, const Range& /*range*/) {
  if (node == nullptr || !node->is_boolean()) return "true or false";
  into = node->as_boolean()->get();
  return "";
}

void TomlFields::refuse(std::string_view key, const toml::node& node, const std::string& wanted) {
  if (!refused_) return;
  refused_ = fail(Code::kInvalid, at_line(file_, node) + ": " + prefix_ + std::string(key) +
                                      " is " + shown(node) + ", but must be " + wanted);
}

void TomlFields::miss(std::string_view key, const std::string& wanted) {
  if (!missing_) return;
  missing_ = fail(Code::kInvalid,
                  where_ + ": " + prefix_ + std::string(key) + " is missing; it must be " + wanted);
}

Status TomlFields::finish() const {
  if (!refused_) return refused_;
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end()) continue;
    std::string advice = did_you_mean(key.str(), known_);
    if (advice.empty()) advice = "; known here: " + joined({known_.begin(), known_.end()}, ", ");
    return fail(Code::kInvalid, at_line(file_, node) + ": unknown key " + prefix_ +
                                    std::string(key.str().substr(0, 60)) + " = " + shown(node) +
                                    advice);
  }
  return missing_;
}

namespace {

std::string quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// The shortest text that parses to the same number, with a point or an exponent as TOML requires.
std::string shortest(double number) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  const std::string shown(text, end);
  return shown.find_first_of(".e") == std::string::npos ? shown + ".0" : shown;
}

}  // namespace

void FieldWriter::add(std::string_view key, const std::string& text) { line(key, quoted(text)); }

void FieldWriter::add(std::string_view key, double number) { line(key, shortest(number)); }

void FieldWriter::numbers(std::string_view key,
                          const std::vector<std::pair<std::string, double>>& table) {
  std::string text = "{";
  for (const auto& [name, number] : table) {
    text += (text.size() == 1 ? " " : ", ") + quoted(name) + " = " + shortest(number);
  }
  line(key, text + " }");
}

}  // namespace forebay
