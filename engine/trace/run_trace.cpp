#include "engine/trace/run_trace.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/stage_list.h"
#include "core/base/text/json_text.h"
#include "engine/report/json_object.h"

namespace forebay {
namespace {

using Json = nlohmann::json;
using Time = SplitTimes::Time;

constexpr const char* kLocal = "local";
constexpr std::int64_t kLatest = std::int64_t{1} << 61;  // The sum of two does not overflow.
constexpr std::string_view kTraceHead = "{\"displayTimeUnit\":";

/// Number, node and rows, followed by all its times.
constexpr std::size_t columns_of(std::size_t stages) { return 3 + 2 * stages + 4; }

/// The times of a split, in the order of a row.
std::vector<Time*> times_of(PastSplit& split) {
  std::vector<Time*> times;
  for (SplitTimes::Span& stage : split.times.stages) {
    times.insert(times.end(), {&stage.begin, &stage.end});
  }
  times.insert(times.end(),
               {&split.times.sent, &split.times.arrived, &split.batch.begin, &split.batch.end});
  return times;
}

Json row_of(PastSplit split) {
  Json row = Json::array({split.number, split.node, split.rows});
  for (const Time* time : times_of(split)) row.push_back(time->count());
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
  split.times.stages.resize(stages);
  std::size_t next = 3;
  for (Time* time : times_of(split)) *time = Time(row[next++].get<std::int64_t>());
  return split;
}

bool are_names(const Json& json) {
  return json.is_array() && json.size() <= kMostStages &&
         std::all_of(json.begin(), json.end(), [](const Json& name) { return name.is_string(); });
}

/// One stage of one split, by the trainer's clock.
struct Slice {
  const PastSplit* split = nullptr;
  std::size_t stage = 0;
  std::size_t node = 0;
  std::size_t lane = 0;  ///< Lane among slices of the same stage that overlap.
  SplitTimes::Span span;
};

const std::string& node_of(const PastSplit& split) {
  static const std::string local = kLocal;
  return split.node.empty() ? local : split.node;
}

double microseconds(Time time) { return static_cast<double>(time.count()) / 1e3; }

/// Numbers the nodes' processes: the trainer's own node is the first.
std::map<std::string, std::size_t> numbered(const std::vector<PastSplit>& splits) {
  std::map<std::string, std::size_t> nodes{{kLocal, 0}};
  for (const PastSplit& split : splits) nodes.emplace(node_of(split), nodes.size());
  return nodes;
}

/// Cuts each split into its stages, the last of which is its batch.
std::vector<Slice> slices_of(const std::vector<PastSplit>& splits) {
  const auto nodes = numbered(splits);
  const auto offsets = clock_offsets(splits);
  std::vector<Slice> slices;
  for (const PastSplit& split : splits) {
    const auto found = offsets.find(split.node);
    const Time offset = found == offsets.end() ? Time(0) : found->second;
    for (std::size_t stage = 0; stage < split.times.stages.size(); ++stage) {
      const SplitTimes::Span& span = split.times.stages[stage];
      slices.push_back({.split = &split,
                        .stage = stage,
                        .node = nodes.at(node_of(split)),
                        .span = {span.begin + offset, span.end + offset}});
    }
    slices.push_back(
        {.split = &split, .stage = split.times.stages.size(), .node = 0, .span = split.batch});
  }
  return slices;
}

/// Slices of one thread must not overlap; each slice goes to the first free lane.
void spread(std::vector<Slice>& slices) {
  std::stable_sort(slices.begin(), slices.end(),
                   [](const Slice& a, const Slice& b) { return a.span.begin < b.span.begin; });
  std::map<std::pair<std::size_t, std::size_t>, std::vector<Time>> ends;  // by node and stage
  for (Slice& slice : slices) {
    std::vector<Time>& lanes = ends[{slice.node, slice.stage}];
    const auto free =
        std::find_if(lanes.begin(), lanes.end(), [&](Time end) { return end <= slice.span.begin; });
    slice.lane = static_cast<std::size_t>(free - lanes.begin());
    if (free == lanes.end()) lanes.emplace_back();
    lanes[slice.lane] = std::max(slice.span.begin, slice.span.end);
  }
}

std::size_t thread_of(const Slice& slice) { return (slice.stage + 1) * 1000 + slice.lane; }

/// Builds the trace's events, one in each line.
class Events {
 public:
  explicit Events(const std::vector<std::string>& stages) : stages_(stages) {}

  std::string stage_of(const Slice& slice) const {
    return is_batch(slice) ? "batch" : stages_[slice.stage];
  }
  void add(const JsonObject& event) {
    text_.append(text_.empty() ? "" : ",\n").append(event.text());
  }
  void name(const char* what, std::size_t node, std::size_t thread, const std::string& name) {
    add(JsonObject()
            .add("ph", "M")
            .add("name", what)
            .add("pid", node)
            .add("tid", thread)
            .add("args", JsonObject().add("name", name)));
  }
  void slice(const Slice& slice, Time origin) {
    const Time length = std::max(slice.span.end - slice.span.begin, Time(0));
    add(event("X", slice, origin)
            .add("name", stage_of(slice))
            .add("cat", "stage")
            .add("dur", microseconds(length))
            .add("args",
                 JsonObject().add("split", slice.split->number).add("rows", slice.split->rows)));
  }
  /// Adds an arrow's point, bound to the slice that begins there.
  void arrow(const Slice& slice, Time origin) {
    const char* phase = slice.stage == 0 ? "s" : is_batch(slice) ? "f" : "t";
    JsonObject point = event(phase, slice, origin);
    point.add("name", "split").add("cat", "split").add("id", slice.split->number);
    if (is_batch(slice)) point.add("bp", "e");
    add(point);
  }
  std::string text() const {
    return std::string(kTraceHead) + "\"ms\",\"traceEvents\":[\n" + text_ + "\n]}\n";
  }

 private:
  bool is_batch(const Slice& slice) const { return slice.stage == stages_.size(); }

  static JsonObject event(const char* phase, const Slice& slice, Time origin) {
    return JsonObject()
        .add("ph", phase)
        .add("pid", slice.node)
        .add("tid", thread_of(slice))
        .add("ts", microseconds(slice.span.begin - origin));
  }

  const std::vector<std::string>& stages_;
  std::string text_;
};

void add_names(const std::vector<PastSplit>& splits, const std::vector<Slice>& slices,
               Events& events) {
  for (const auto& [name, node] : numbered(splits)) events.name("process_name", node, 0, name);
  std::map<std::pair<std::size_t, std::size_t>, std::string> threads;
  for (const Slice& slice : slices) {
    std::string name = events.stage_of(slice);
    if (slice.lane > 0) name.append(" ").append(std::to_string(slice.lane + 1));
    threads.emplace(std::pair(slice.node, thread_of(slice)), std::move(name));
  }
  for (const auto& [thread, name] : threads) {
    events.name("thread_name", thread.first, thread.second, name);
  }
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

std::map<std::string, Time> clock_offsets(const std::vector<PastSplit>& splits) {
  std::map<std::string, Time> offsets;
  for (const PastSplit& split : splits) {
    if (split.node.empty()) continue;
    const Time between = split.times.arrived - split.times.sent;
    const auto [offset, fresh] = offsets.emplace(split.node, between);
    if (!fresh) offset->second = std::min(offset->second, between);
  }
  return offsets;
}

bool is_chrome_trace(std::string_view begin) { return begin.starts_with(kTraceHead); }

std::string chrome_trace(const History& history) {
  std::vector<Slice> slices = slices_of(history.splits);
  spread(slices);
  const Time origin = slices.empty() ? Time(0) : slices.front().span.begin;
  Events events(history.stages);
  add_names(history.splits, slices, events);
  for (const Slice& slice : slices) {
    events.slice(slice, origin);
    events.arrow(slice, origin);
  }
  return events.text();
}

}  // namespace forebay
