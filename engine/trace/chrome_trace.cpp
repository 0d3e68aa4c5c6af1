#include "engine/trace/chrome_trace.h"

#include <algorithm>
#include <utility>

#include "engine/report/json_object.h"

namespace forebay {
namespace {

using Time = SplitTimes::Time;

constexpr const char* kLocal = "local";

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
    return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + text_ + "\n]}\n";
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
