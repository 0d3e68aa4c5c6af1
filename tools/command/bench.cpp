#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "engine/report/json_object.h"
#include "tools/command/bench_parts.h"
#include "tools/command/commands.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

struct Part {
  std::string_view name;
  BenchFigures (*measure)(const Invocation&);
};

constexpr std::array kParts = {Part{"checkpoint", &checkpoint_figures},
                               Part{"ingest", &ingest_figures},
                               Part{"ranks", &ranks_figures},
                               Part{"runtime", &runtime_figures},
                               Part{"tables", &table_figures},
                               Part{"threads", &threads_figures},
                               Part{"train", &train_figures},
                               Part{"tuner", &tuner_figures},
                               Part{"wire", &wire_figures}};

BenchFigures measure(const std::string& name, const Invocation& invocation) {
  const auto* const part = std::ranges::find(kParts, name, &Part::name);
  if (part != kParts.end()) return part->measure(invocation);
  std::string known;
  for (const Part& other : kParts) {
    if (!known.empty()) known += &other == &kParts.back() ? " and " : ", ";
    known += other.name;
  }
  return fail(Code::kInvalid, "bench " + name + ": not in this version; known are " + known);
}

void print(const std::vector<BenchResult>& results) {
  for (const BenchResult& result : results) {
    const int digits = result.value < 1 ? 9 : 2;
    std::printf("%-26s %14.*f %-8s", result.name.c_str(), digits, result.value,
                result.unit.c_str());
    if (result.limit) std::printf("  limit %14.*f", digits, *result.limit);
    if (result.ratio) std::printf("  ratio %.3f", *result.ratio);
    std::printf("\n");
  }
}

JsonObject json_of(const BenchResult& result) {
  return JsonObject()
      .add("name", result.name)
      .add("value", result.value)
      .add("unit", result.unit)
      .add("limit", result.limit)
      .add("ratio", result.ratio);
}

}  // namespace

Result<std::uint64_t> bench_count(const Invocation& invocation, const std::string& option,
                                  std::uint64_t otherwise) {
  const std::string text = invocation.value(option);
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number == 0) {
    return fail(Code::kInvalid, option + " " + text + ": wants a number of at least 1");
  }
  return number;
}

Exit run_bench(const Invocation& invocation) {
  auto results = measure(invocation.arguments.front(), invocation);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!results) {
    return results.error().code == Code::kInvalid ? Exit::refused(results.error())
                                                  : Exit::failed(results.error());
  }
  if (!invocation.has("--json")) {
    print(*results);
    return Exit::done();
  }
  std::vector<JsonObject> list;
  for (const BenchResult& result : *results) list.push_back(json_of(result));
  print_json(JsonObject().add("results", list));
  return Exit::done();
}

}  // namespace forebay
