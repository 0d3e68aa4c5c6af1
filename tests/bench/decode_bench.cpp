// Decoding compared with copying the same bytes, one core, interleaved so that noise affects both
// equally: decode_bench [criteo_tsv|csv] prints medians in ns a row and their ratio for each level
// of the processor.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "actors/format/criteo/criteo_tsv.h"
#include "actors/format/csv/csv.h"
#include "core/base/check.h"
#include "core/base/median.h"
#include "core/base/random.h"
#include "tests/actors/format/split_maker.h"

namespace forebay {
namespace {

constexpr std::size_t kTextBytes = std::size_t{96} << 20;
constexpr std::size_t kSplitBytes = std::size_t{1} << 20;
constexpr int kRounds = 15;

/// Processor time of this thread: others on the machine do not count.
double seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Integers of 1 to 7 digits, a few negative; a fifth of the columns is often empty.
std::string criteo_rows(Random& random) {
  std::string text;
  while (text.size() < kTextBytes) {
    text += random.below(30) == 0 ? '1' : '0';
    for (int i = 0; i < 13; ++i) {
      text += '\t';
      if (random.below(100) < (i % 4 == 0 ? 40U : 10U)) continue;
      if (i == 1 && random.below(10) == 0) text += '-';
      text += std::to_string(random.next() >> (42 + random.below(22)));
    }
    for (int i = 0; i < 26; ++i) {
      text += '\t';
      if (random.below(100) < (i % 5 == 0 ? 30U : 0U)) continue;
      char token[9];
      std::snprintf(token, sizeof token, "%08x", static_cast<unsigned>(random.next() >> 32));
      text += token;
    }
    text += '\n';
  }
  return text;
}

/// Like the Open Bandit rows: ids, hashes, a long fraction and many short floats.
std::string csv_rows(Random& random) {
  std::string text = "item,click,score,u0,u1";
  for (int i = 0; i < 40; ++i) text += std::string(",a").append(std::to_string(i));
  text += '\n';
  while (text.size() < kTextBytes) {
    text += std::to_string(random.below(80));
    text += random.below(30) == 0 ? ",1," : ",0,";
    text += std::to_string(random.uniform() / 10);
    for (int i = 0; i < 2; ++i) {
      char hash[40];
      std::snprintf(hash, sizeof hash, ",%016llx%016llx",
                    static_cast<unsigned long long>(random.below(9)), 0x9e3779b97f4a7c15ULL);
      text += hash;
    }
    for (int i = 0; i < 40; ++i) text += random.below(50) == 0 ? ",1.0" : ",0.0";
    text += '\n';
  }
  return text;
}

std::vector<RawSplit> cut(const TextFormat& format, const std::string& text,
                          test::SplitMaker& maker) {
  const auto blocks = test::SplitMaker::index(format, text, kSplitBytes, kSplitBytes);
  FOREBAY_CHECK(blocks);
  std::vector<RawSplit> splits;
  for (std::size_t i = 0; i < blocks->blocks().size(); ++i) {
    splits.push_back(maker.split_of_block(text, *blocks, i));
  }
  return splits;
}

void measure(const char* name, const TextFormat& format, const std::string& text) {
  test::SplitMaker maker;
  const std::vector<RawSplit> splits = cut(format, text, maker);
  std::vector<char> copy(2 * kSplitBytes);
  std::vector<double> decode_times;
  std::vector<double> copy_times;
  std::size_t rows = 0;
  for (int round = 0; round < kRounds; ++round) {
    double start = seconds();
    for (const RawSplit& split : splits) {
      std::memcpy(copy.data(), split.bytes.data(), split.bytes.size());
      asm volatile("" : : "r"(copy.data()) : "memory");
    }
    copy_times.push_back(seconds() - start);
    rows = 0;
    start = seconds();
    for (const RawSplit& split : splits)
      rows += format.decode(split, {}, maker.pool()).columns.rows;
    decode_times.push_back(seconds() - start);
  }
  const double a_row = 1e9 / static_cast<double>(rows);
  std::printf("%-20s %zu rows  decode %.1f ns/row (%.0f MB/s)  copy %.1f ns/row  ratio %.3f\n",
              name, rows, median(decode_times) * a_row,
              static_cast<double>(text.size()) / median(decode_times) / 1e6,
              median(copy_times) * a_row, median(copy_times) / median(decode_times));
}

void measure_criteo(Random& random) {
  const std::string text = criteo_rows(random);
  const char* const names[] = {"criteo baseline", "criteo avx2", "criteo avx512"};
  for (int level = 0; level <= static_cast<int>(best_cpu_level()); ++level) {
    measure(names[level], **open_criteo_tsv({}, {}, static_cast<CpuLevel>(level)), text);
  }
}

void measure_csv(Random& random) {
  const std::string text = csv_rows(random);
  const ColumnSpec columns{.label = "click", .dense = {"score", "a*"}, .sparse = {"item", "u*"}};
  measure("csv", **open_csv({.format = "csv"}, columns, {text.data(), 4096}), text);
}

}  // namespace
}  // namespace forebay

int main(int argc, char** argv) {
  const std::string which = argc > 1 ? argv[1] : "";
  forebay::Random random(1);
  if (which != "csv") forebay::measure_criteo(random);
  if (which != "criteo_tsv") forebay::measure_csv(random);
}
