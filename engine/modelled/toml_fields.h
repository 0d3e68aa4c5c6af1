#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/job/toml_library.h"

namespace forebay {

/// Reads the fields of one TOML table into members. An error names file, line, key, value and what
/// is wanted, or the nearest known key.
class TomlFields {
 public:
  /// `prefix` goes before keys in messages: "stage.". `tables` are the table's keys that are read
  /// elsewhere.
  TomlFields(std::string_view file, const toml::table& table, std::string prefix,
             std::vector<std::string_view> tables = {});

  /// Reads a name of 1 to 200 characters, a number or a whole number in [low, high], or an optional
  /// one.
  template <class T>
  void needs(std::string_view key, T& into, double low = 0, double high = 0) {
    field(key, into, {low, high}, true);
  }
  /// The same for a key that may be missing; then the member keeps its value.
  template <class T>
  void may(std::string_view key, T& into, double low = 0, double high = 0) {
    field(key, into, {low, high}, false);
  }

  /// The same for a key that only some files need; a writer leaves it out where it has its usual
  /// value.
  template <class T>
  void seldom(std::string_view key, T& into, double low = 0, double high = 0) {
    may(key, into, low, high);
  }

  /// Returns the error of a value; without one, that of an unknown or a missing key.
  Status finish() const;

  const std::string& where() const { return where_; }  ///< `p.toml, line 12`

 private:
  struct Range {
    double low;
    double high;
  };

  /// Returns what the key wants if the node is missing (null) or has another value; "": it is read.
  static std::string read(const toml::node* node, std::string& into, const Range& range);
  static std::string read(const toml::node* node, double& into, const Range& range);
  static std::string read(const toml::node* node, std::int64_t& into, const Range& range);
  static std::string read(const toml::node* node, bool& into, const Range& range);

  void field(std::string_view key, bool& into, const Range& range, bool needed) {
    take(key, into, range, needed);
  }
  template <class T>
  void field(std::string_view key, T& into, const Range& range, bool needed) {
    T value = into;
    if (take(key, value, range, needed)) into = value;
  }
  template <std::integral T>
  void field(std::string_view key, T& into, const Range& range, bool needed) {
    std::int64_t value = 0;
    if (take(key, value, range, needed)) into = static_cast<T>(value);
  }
  template <class T>
  void field(std::string_view key, std::optional<T>& into, const Range& range, bool needed) {
    T value{};
    const toml::node* node = table_.get(key);
    field(key, value, range, needed);
    if (node != nullptr) into = value;
  }

  /// Returns whether the key is there and its value is accepted.
  template <class T>
  bool take(std::string_view key, T& into, const Range& range, bool needed) {
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    const std::string wanted = read(node, into, range);
    if (wanted.empty()) return true;
    if (node != nullptr) refuse(key, *node, wanted);
    if (node == nullptr && needed) miss(key, wanted);
    return false;
  }
  void refuse(std::string_view key, const toml::node& node, const std::string& wanted);
  void miss(std::string_view key, const std::string& wanted);

  const std::string_view file_;
  const toml::table& table_;
  const std::string prefix_;
  const std::string where_;
  std::vector<std::string_view> known_;
  Status refused_;
  Status missing_;
};

/// Writes the fields of TOML tables, in lines of `key = value`. Names contain no control
/// characters.
class FieldWriter {
 public:
  void table(std::string_view header) { text_.append("\n").append(header).append("\n"); }
  void needs(std::string_view key, const auto& value, double /*low*/ = 0, double /*high*/ = 0) {
    add(key, value);
  }
  void may(std::string_view key, const auto& value, double /*low*/ = 0, double /*high*/ = 0) {
    add(key, value);
  }
  template <class T>
  void seldom(std::string_view key, const T& value, double /*low*/ = 0, double /*high*/ = 0) {
    if (value != T{}) add(key, value);
  }
  /// A table in one line, of names and numbers.
  void numbers(std::string_view key, const std::vector<std::pair<std::string, double>>& table);
  const std::string& text() const { return text_; }

 private:
  void add(std::string_view key, bool flag) { line(key, flag ? "true" : "false"); }
  void add(std::string_view key, const std::string& text);
  void add(std::string_view key, double number);
  void add(std::string_view key, std::integral auto number) { line(key, std::to_string(number)); }
  template <class T>
  void add(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, *value);
  }
  void line(std::string_view key, const std::string& value) {
    text_.append(key).append(" = ").append(value).append("\n");
  }

  std::string text_;
};

}  // namespace forebay
