#include "engine/trace/history_text.h"

#include <algorithm>
#include <cstdint>

#include <nlohmann/json.hpp>

#include "actors/stage_list.h"
#include "core/base/json_text.h"

namespace forebay {
namespace {

using Json = nlohmann::json;
using Time = SplitTimes::Time;

constexpr std::int64_t kLatest = std::int64_t{1} << 61;  // The sum of two does not overflow.

/// Number, node and rows, followed by all its times.
constexpr std::size_t columns_of(std::size_t stages) { return 3 + 2 * stages + 4; }

Json row_of(const PastSplit& split) {
  Json row = Json::array({split.number, split.node, split.rows});
  for (const SplitTimes::Span& stage : split.times.stages) {
    row.push_back(stage.begin.count());
    row.push_back(stage.end.count());
  }
  for (const Time time :
       {split.times.sent, split.times.arrived, split.batch.begin, split.batch.end}) {
    row.push_back(time.count());
  }
  return row;
}

bool is_time(const Json& json) {
  return json.is_number_unsigned() && json.get<std::uint64_t>() <= kLatest;
}

bool is_row(const Json& row, std::size_t stages) {
  if (!row.is_array() || row.size() != columns_of(stages)) return false;
  if (!row[0].is_number_unsigned() || !row[1].is_string() || !row[2].is_number_unsigned()) {
    return false;
  }
  for (std::size_t i = 3; i < row.size(); ++i) {
    if (!is_time(row[i])) return false;
  }
  return true;
}

PastSplit split_of(const Json& row, std::size_t stages) {
  PastSplit split{.number = row[0], .node = row[1], .rows = row[2], .times = {}, .batch = {}};
  std::size_t next = 3;
  const auto time = [&] { return Time(row[next++].get<std::int64_t>()); };
  split.times.stages.resize(stages);
  for (SplitTimes::Span& stage : split.times.stages) {
    stage.begin = time();
    stage.end = time();
  }
  split.times.sent = time();
  split.times.arrived = time();
  split.batch.begin = time();
  split.batch.end = time();
  return split;
}

bool are_names(const Json& json) {
  return json.is_array() && json.size() <= kMostStages &&
         std::all_of(json.begin(), json.end(), [](const Json& name) { return name.is_string(); });
}

}  // namespace

std::string history_text(const History& history) {
  Json rows = Json::array();
  for (const PastSplit& split : history.splits) rows.push_back(row_of(split));
  const Json all = {
      {"now", history.now.count()}, {"stages", history.stages}, {"splits", std::move(rows)}};
  return json_text(all);
}

Result<History> parse_history(std::string_view text) {
  const Json all = Json::parse(text, nullptr, false);
  const auto strange = [] {
    return fail(Code::kCorrupt, "the job's answer is not understood; is it of another version?");
  };
  const bool whole = all.is_object() && all.contains("now") && all.contains("stages") &&
                     all.contains("splits") && is_time(all["now"]) && are_names(all["stages"]) &&
                     all["splits"].is_array();
  if (!whole) return strange();
  History history{
      .now = Time(all["now"].get<std::int64_t>()), .stages = all["stages"], .splits = {}};
  history.splits.reserve(all["splits"].size());
  for (const Json& row : all["splits"]) {
    if (!is_row(row, history.stages.size())) return strange();
    history.splits.push_back(split_of(row, history.stages.size()));
  }
  return history;
}

}  // namespace forebay
