// Any bytes as a Criteo file: the scanner, the cutting and every kernel against a parser that
// goes letter by letter.

#include <charconv>
#include <cstddef>
#include <string>

#include "actors/format/criteo/criteo_tsv.h"
#include "core/data/column_set.h"
#include "tests/fuzz/scan_and_decode.h"

namespace forebay::fuzz {
namespace {

bool read_int(const std::string& field, float& value, std::int64_t& integer) {
  value = missing_value();
  integer = 0;
  if (field.empty()) return true;
  const bool minus = field[0] == '-';
  if (field.size() == (minus ? 1U : 0U)) return false;
  unsigned __int128 magnitude = 0;
  const unsigned __int128 limit = (static_cast<unsigned __int128>(1) << 63) - (minus ? 0 : 1);
  for (std::size_t i = minus ? 1 : 0; i < field.size(); ++i) {
    if (field[i] < '0' || field[i] > '9') return false;
    magnitude = magnitude * 10 + static_cast<unsigned>(field[i] - '0');
    if (magnitude > limit) return false;
  }
  const auto bits = static_cast<std::uint64_t>(magnitude);
  integer = static_cast<std::int64_t>(minus ? 0 - bits : bits);
  value = static_cast<float>(integer);
  return true;
}

bool read_token(const std::string& field, std::vector<std::int64_t>& ids) {
  if (field.empty()) return true;
  if (field.size() > 8) return false;
  std::int64_t id = 0;
  for (const char letter : field) {
    int digit = 0;
    if (letter >= '0' && letter <= '9') {
      digit = letter - '0';
    } else if (letter >= 'a' && letter <= 'f') {
      digit = letter - 'a' + 10;
    } else if (letter >= 'A' && letter <= 'F') {
      digit = letter - 'A' + 10;
    } else {
      return false;
    }
    id = id * 16 + digit;
  }
  ids.push_back(id);
  return true;
}

bool read_row(std::string line, Row& row, std::vector<std::int64_t>& integers) {
  if (line.ends_with('\r')) line.pop_back();
  std::vector<std::string> fields(1);
  for (const char letter : line) {
    if (letter == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  if (fields.size() != 40 || (fields[0] != "0" && fields[0] != "1")) return false;
  row.label = fields[0] == "1" ? 1.0F : 0.0F;
  row.dense.resize(13);
  row.sparse.resize(26);
  integers.resize(13);
  for (std::size_t i = 0; i < 13; ++i) {
    if (!read_int(fields[1 + i], row.dense[i], integers[i])) return false;
  }
  for (std::size_t i = 0; i < 26; ++i) {
    if (!read_token(fields[14 + i], row.sparse[i])) return false;
  }
  return true;
}

/// Keeps I1 and C1; I2 is the weight, I3 and C2 are extra columns.
bool with_rest(Row& row, const std::vector<std::int64_t>& integers) {
  row.weight = row.dense[1];
  row.extras = {integers[2], row.sparse[1].empty() ? 0 : row.sparse[1][0]};
  row.dense.resize(1);
  row.sparse.resize(1);
  return !is_missing(row.weight) && row.weight >= 0;
}

Expected parse(std::string_view text, bool rest) {
  Expected expected;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at;
    while (end < text.size() && text[end] != '\n') ++end;
    Row row;
    row.offset = at;
    std::vector<std::int64_t> integers;
    if (read_row(std::string(text.substr(at, end - at)), row, integers) &&
        (!rest || with_rest(row, integers))) {
      expected.rows.push_back(row);
    } else {
      expected.damaged.push_back(at);
    }
    at = end + 1;
  }
  return expected;
}

/// Arbitrary bytes seldom make 40 fields: a byte from 0x80 on stands for a run of plain fields,
/// so that the fuzzer gets to whole rows, and to groups of them, soon.
std::string spelled_out(std::string_view data) {
  static constexpr std::string_view kRow =
      "1\t5\t\t-"
      "1\t12345678\t\t\t2\t\t\t\t\t\t8\t62770d79\t\tAFEA442f\t\t\t\t4\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t"
      "\t\t\t7\t8\n";
  static constexpr std::size_t kMost = 6000;
  std::string text;
  for (const char letter : data) {
    if (text.size() > kMost) break;
    const auto byte = static_cast<unsigned char>(letter);
    if (byte >= 0xc0) {
      for (int i = byte & 0x3f; i >= 0; --i) text += kRow;
    } else if (byte >= 0x80) {
      text += kRow.substr(0, kRow.size() * (byte & 0x3f) / 0x3f);
    } else {
      text += letter;
    }
  }
  return text;
}

void check_text(std::string_view text, std::size_t piece) {
  const Expected expected = parse(text, false);
  for (int level = 0; level <= static_cast<int>(best_cpu_level()); ++level) {
    const auto format = open_criteo_tsv({}, {}, static_cast<CpuLevel>(level));
    check(**format, text, piece, expected);
  }
  const ColumnSpec columns{
      .label = "label", .dense = {"I1"}, .sparse = {"C1"}, .weight = "I2", .extra = {"I3", "C2"}};
  check(**open_criteo_tsv({}, columns), text, piece, parse(text, true));
}

}  // namespace
}  // namespace forebay::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t piece = 1 + data[0] % 64;
  if (data[0] < 128) {
    forebay::fuzz::check_text(bytes, piece);
  } else {
    forebay::fuzz::check_text(forebay::fuzz::spelled_out(bytes), piece);
  }
  return 0;
}
