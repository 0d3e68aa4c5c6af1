// Any bytes as a CSV file: the scanner, the cutting and the decoder against a parser that is a
// state machine over single letters.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/csv/csv.h"
#include "actors/format/csv/decimal.h"
#include "core/data/column_set.h"
#include "tests/fuzz/scan_and_decode.h"

namespace forebay::fuzz {
namespace {

constexpr double kThreshold = 0.5;

/// One record: fields without their quotes, and whether its syntax is sound.
struct Record {
  std::uint64_t offset = 0;
  bool sound = true;
  std::vector<std::string> fields;
};

class Reference {
 public:
  explicit Reference(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  /// The next record that is no blank line; false at the end.
  bool next(Record& record) {
    while (take_newline()) {
    }
    if (at_ >= text_.size() || text_.substr(at_) == "\r") return false;
    record = {.offset = at_, .sound = true, .fields = {}};
    do {
      take_field(record);
    } while (take(','));
    take_newline();
    return true;
  }

 private:
  bool at_newline() const {
    const std::string_view rest = text_.substr(at_);
    return rest.empty() || rest[0] == '\n' || rest.starts_with("\r\n") || rest == "\r";
  }
  bool take_newline() {
    return take('\n') || (text_.substr(at_).starts_with("\r\n") && take('\r') && take('\n')) ||
           (text_.substr(at_) == "\r" && take('\r'));
  }
  bool take(char letter) {
    if (at_ >= text_.size() || text_[at_] != letter) return false;
    ++at_;
    return true;
  }

  void take_field(Record& record) {
    std::string field;
    const bool quoted = take('"');
    if (quoted) {
      bool closed = false;
      while (at_ < text_.size() && !closed) {
        const char letter = text_[at_++];
        if (letter != '"' || take('"')) {
          field += letter;
        } else {
          closed = true;
        }
      }
      record.sound = record.sound && closed;
    }
    while (!at_newline() && text_[at_] != ',') {
      record.sound = record.sound && !quoted;
      field += text_[at_++];
    }
    if (field.find('\0') != std::string::npos) record.sound = false;
    record.fields.push_back(field);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string trimmed(std::string field) {
  while (field.starts_with(' ') || field.starts_with('\t')) field.erase(0, 1);
  while (field.ends_with(' ') || field.ends_with('\t')) field.pop_back();
  return field;
}

/// By way of strtof, which takes more: hexadecimal, white space, nan(…).
bool read_float(const std::string& field, float& value) {
  value = missing_value();
  if (field.empty()) return true;
  if (field.find_first_not_of("+-.0123456789eEinftyINFTYaA") != std::string::npos) return false;
  char* end = nullptr;
  value = std::strtof(field.c_str(), &end);
  if (value != value) value = std::bit_cast<float>(kNanBits);
  return *end == '\0';
}

/// By way of strtod; empty unless finite.
std::optional<double> read_finite(const std::string& field) {
  if (field.empty() || field.find_first_not_of("+-.0123456789eE") != std::string::npos) return {};
  char* end = nullptr;
  const double value = std::strtod(field.c_str(), &end);
  if (*end != '\0' || !std::isfinite(value)) return {};
  return value;
}

/// Label, dense value and id: the usual columns.
bool read_row(const Record& record, std::size_t columns, Row& row) {
  if (!record.sound || record.fields.size() != columns) return false;
  const std::string label = trimmed(record.fields[0]);
  if (label != "0" && label != "1" && label != "0.0" && label != "1.0") return false;
  row.label = label[0] == '1' ? 1.0F : 0.0F;
  row.dense.resize(1);
  row.sparse.resize(1);
  const std::string& ids = record.fields[2];
  if (!ids.empty()) row.sparse[0].push_back(id_of(ids));
  return read_float(trimmed(record.fields[1]), row.dense[0]);
}

/// A label with a threshold, a weight and an id.
bool read_weighted(const Record& record, std::size_t columns, Row& row) {
  if (!record.sound || record.fields.size() != columns) return false;
  const auto label = read_finite(trimmed(record.fields[0]));
  if (!label) return false;
  row.label = *label >= kThreshold ? 1.0F : 0.0F;
  const std::string weight = trimmed(record.fields[1]);
  if (weight.empty() || !read_float(weight, row.weight)) return false;
  if (!std::isfinite(row.weight) || row.weight < 0) return false;
  row.sparse.resize(1);
  if (!record.fields[2].empty()) row.sparse[0].push_back(id_of(record.fields[2]));
  return true;
}

/// Label, dense value and an extra column.
bool read_extra(const Record& record, std::size_t columns, Row& row) {
  if (!read_row(record, columns, row)) return false;
  row.extras = {row.sparse[0].empty() ? 0 : row.sparse[0][0]};
  row.sparse.clear();
  return true;
}

using ReadRow = bool (*)(const Record&, std::size_t, Row&);

void check_text(const std::string& text, std::size_t piece, const ColumnSpec& columns,
                ReadRow read_row) {
  const DatasetSpec spec{.format = "csv"};
  const auto format = open_csv(spec, columns, {text.data(), text.size()});
  Reference reference(text);
  Record header;
  if (!format || !reference.next(header) || header.fields.size() < 3) return;
  if (header.fields[0] != "a" || header.fields[1] != "b" || header.fields[2] != "c") return;
  Expected expected;
  Record record;
  while (reference.next(record)) {
    Row row;
    row.offset = record.offset;
    if (read_row(record, header.fields.size(), row)) {
      expected.rows.push_back(row);
    } else {
      expected.damaged.push_back(record.offset);
    }
  }
  check(**format, text, piece, expected);
}

void check_text(const std::string& text, std::size_t piece) {
  check_text(text, piece, {.label = "a", .dense = {"b"}, .sparse = {"c"}}, read_row);
  check_text(text, piece, {.label = "a", .dense = {"b"}, .sparse = {"c"}, .dedup = {{"b"}, {"c"}}},
             read_row);
  check_text(text, piece,
             {.label = "a", .sparse = {"c"}, .label_threshold = kThreshold, .weight = "b"},
             read_weighted);
  check_text(text, piece, {.label = "a", .dense = {"b"}, .extra = {"c"}}, read_extra);
}

}  // namespace
}  // namespace forebay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1 + data[0] % 80;
  // Half the inputs are rows under a header that is right, the others are whole files.
  forebay::fuzz::check_text(data[0] < 128 ? "a,b,c\n" + bytes : bytes, piece);
  return 0;
}
