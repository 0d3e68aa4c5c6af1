#include "actors/format/criteo/criteo_row.h"

#include <algorithm>
#include <charconv>

#include "actors/format/csv/text_label.h"
#include "actors/format/raw_split.h"
#include "actors/format/row_values.h"
#include "core/data/column_set.h"

namespace forebay {
namespace {

std::string damage(std::size_t field, std::string_view text, const char* what) {
  return "column " + criteo_column_name(field) + ": " + quoted_text(text) + what;
}

enum class Read : std::uint8_t { kOk, kMalformed, kTooLarge };

Read read_int(std::string_view text, std::int64_t& number) {
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (end != last || error == std::errc::invalid_argument) return Read::kMalformed;
  return error == std::errc{} ? Read::kOk : Read::kTooLarge;
}

Read read_token(std::string_view text, std::int64_t& value) {
  std::uint32_t number = 0;
  const char* last = text.data() + text.size();
  if (text.size() > 8) return Read::kMalformed;
  if (std::from_chars(text.data(), last, number, 16).ptr != last) return Read::kMalformed;
  value = number;
  return Read::kOk;
}

// Each of the three functions reads one field into the row and returns its error; empty if there is
// none.

std::string read_label(std::string_view text, const std::optional<double>& threshold,
                       CriteoRow& row) {
  if (threshold) {
    const auto label = label_in(text, threshold);
    row.label = label.value_or(0);
    return label ? std::string() : damage(0, text, label_complaint(threshold));
  }
  if (text != "0" && text != "1") return damage(0, text, " is not 0 or 1");
  row.label = text == "1" ? 1.0F : 0.0F;
  return {};
}

std::string read_dense(std::size_t field, std::string_view text, CriteoRow& row) {
  float& value = row.ints[field - 1];
  std::int64_t& integer = row.integers[field - 1];
  value = missing_value();
  integer = 0;
  if (text.empty()) return {};
  const Read read = read_int(text, integer);
  value = static_cast<float>(integer);
  if (read == Read::kTooLarge) return damage(field, text, " does not fit in 64 bits");
  return read == Read::kOk ? std::string() : damage(field, text, " is not an integer");
}

std::string read_sparse(std::size_t field, std::string_view text, CriteoRow& row) {
  const std::size_t token = field - 1 - CriteoRow::kInts;
  row.tokens[token] = 0;
  if (text.empty()) return {};
  if (read_token(text, row.tokens[token]) != Read::kOk) {
    return damage(field, text, " is not 1 to 8 hexadecimal digits");
  }
  row.present |= 1U << token;
  return {};
}

}  // namespace

std::string criteo_column_name(std::size_t i) {
  if (i == 0) return "label";
  if (i <= CriteoRow::kInts) return std::string("I").append(std::to_string(i));
  return std::string("C").append(std::to_string(i - CriteoRow::kInts));
}

std::string CriteoRow::parse(std::string_view row, const std::optional<double>& label_threshold) {
  if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
  if (const auto tabs = std::count(row.begin(), row.end(), '\t'); tabs != kFields - 1) {
    return std::to_string(tabs) + " tabs, not " + std::to_string(kFields - 1);
  }
  present = 0;
  for (std::size_t field = 0; field < kFields; ++field) {
    const std::string_view text = row.substr(0, row.find('\t'));
    row.remove_prefix(std::min(row.size(), text.size() + 1));
    std::string reason = field == 0       ? read_label(text, label_threshold, *this)
                         : field <= kInts ? read_dense(field, text, *this)
                                          : read_sparse(field, text, *this);
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace forebay
