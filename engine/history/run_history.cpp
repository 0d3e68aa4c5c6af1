#include "engine/history/run_history.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace forebay {
namespace {

/// Appends a finite number with at most `digits` significant digits; others as null.
void append_number(double number, int digits, std::string& text) {
  if (!std::isfinite(number)) {
    text += "null";
    return;
  }
  std::array<char, 32> digits_text{};
  const auto end = std::to_chars(digits_text.data(), digits_text.data() + digits_text.size(),
                                 number, std::chars_format::general, digits);
  text.append(digits_text.data(), end.ptr);
}

void append_field(const char* key, double number, std::string& text, int digits = 6) {
  text.append(",\"").append(key).append("\":");
  append_number(number, digits, text);
}

}  // namespace

HistorySample merged(const HistorySample& earlier, const HistorySample& later) {
  const double seconds = earlier.seconds + later.seconds;
  const double share = seconds > 0 ? later.seconds / seconds : 0.5;
  const auto mean = [share](double before, double after) {
    return before + (after - before) * share;
  };
  HistorySample both = later;
  both.seconds = seconds;
  both.rows_per_second = mean(earlier.rows_per_second, later.rows_per_second);
  both.starved_ratio = mean(earlier.starved_ratio, later.starved_ratio);
  both.cpus_busy = mean(earlier.cpus_busy, later.cpus_busy);
  both.memory_bytes = std::max(earlier.memory_bytes, later.memory_bytes);
  if (!both.loss) both.loss = earlier.loss;
  if (!both.auc) both.auc = earlier.auc;
  for (std::size_t i = 0; i < std::min(both.stages.size(), earlier.stages.size()); ++i) {
    both.stages[i].busy = static_cast<float>(mean(earlier.stages[i].busy, later.stages[i].busy));
  }
  return both;
}

void RunHistory::add(HistorySample sample) {
  if (last_.size() == kMostLast) last_.pop_front();
  last_.push_back(sample);
  pending_ = pending_ ? merged(*pending_, sample) : std::move(sample);
  if (++merged_ < stride_) return;
  whole_.push_back(*std::exchange(pending_, std::nullopt));
  merged_ = 0;
  if (whole_.size() < kMostWhole) return;
  for (std::size_t i = 0; i < kMostWhole / 2; ++i) {
    whole_[i] = merged(whole_[2 * i], whole_[2 * i + 1]);
  }
  whole_.resize(kMostWhole / 2);
  stride_ *= 2;
}

std::vector<HistorySample> RunHistory::whole() const {
  std::vector<HistorySample> all = whole_;
  if (pending_) all.push_back(*pending_);
  return all;
}

void append_json(const HistorySample& sample, const std::vector<std::string>& names,
                 std::string& text) {
  constexpr int kTimeDigits = 13;  // milliseconds
  text += "{\"time\":";
  append_number(sample.time, kTimeDigits, text);
  append_field("seconds", sample.seconds, text);
  append_field("rows_per_second", sample.rows_per_second, text);
  append_field("starved_ratio", sample.starved_ratio, text);
  append_field("cpus_busy", sample.cpus_busy, text);
  text.append(",\"memory_bytes\":").append(std::to_string(sample.memory_bytes));
  if (sample.loss) append_field("loss", *sample.loss, text);
  if (sample.auc) append_field("auc", *sample.auc, text);
  text += ",\"stages\":[";
  for (std::size_t i = 0; i < std::min(sample.stages.size(), names.size()); ++i) {
    // A stage's name is a bare word ([a-z][a-z0-9_-]*).
    text.append(i > 0 ? ",{\"name\":\"" : "{\"name\":\"").append(names[i]);
    text.append("\",\"actors\":").append(std::to_string(sample.stages[i].actors));
    append_field("busy", sample.stages[i].busy, text, 4);
    text += '}';
  }
  text += "]}";
}

}  // namespace forebay
