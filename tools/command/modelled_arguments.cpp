#include "tools/command/modelled_arguments.h"

#include <chrono>
#include <cstdio>
#include <limits>

#include "core/base/printable.h"
#include "core/base/seconds.h"
#include "engine/job/quantity.h"
#include "engine/modelled/allocation_text.h"
#include "engine/modelled/pipeline_file.h"
#include "engine/modelled/simulation.h"
#include "tools/inspect/text_table.h"
#include "tools/process/message.h"

namespace forebay {
namespace {

Result<double> seconds_of(const Invocation& invocation, double usual) {
  if (!invocation.has("--seconds")) return usual;
  const auto time = parse_duration(invocation.value("--seconds"));
  const double seconds = time ? in_seconds(*time) : 0;
  if (seconds > 0) return seconds;
  return fail(Code::kInvalid, "--seconds " + invocation.value("--seconds") +
                                  ": must be a time above 0, as in 600 or 10m");
}

Result<tuner::Allocation> allocation_of(const Invocation& invocation,
                                        const tuner::PipelineModel& model) {
  const std::string text = invocation.value("--allocation");
  const tuner::PipelineDescription description = tuner::description_of(model);
  auto allocation = text == "oracle" ? Result<tuner::Allocation>(oracle_allocation(model))
                                     : parse_allocation(text, description);
  if (!allocation) return allocation;
  auto prefetch = count_of(invocation, "--prefetch", 1, std::numeric_limits<std::uint32_t>::max(),
                           allocation->prefetch);
  if (!prefetch) return pass(prefetch);
  allocation->prefetch = static_cast<std::uint32_t>(*prefetch);
  return allocation;
}

}  // namespace

Result<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint64_t low, std::uint64_t high, std::uint64_t otherwise) {
  if (!invocation.has(option)) return otherwise;
  const auto count = parse_count(invocation.value(option));
  if (count && *count >= low && *count <= high) return *count;
  return fail(Code::kInvalid, option + " " + invocation.value(option) +
                                  ": must be a whole number from " + std::to_string(low) + " to " +
                                  std::to_string(high));
}

Result<ModelledRun> read_modelled_run(const Invocation& invocation,
                                      double (*usual_seconds)(const tuner::PipelineModel&)) {
  auto model = load_pipeline(invocation.arguments.front());
  if (!model) return pass(model);
  auto allocation = allocation_of(invocation, *model);
  if (!allocation) return pass(allocation);
  auto seconds = seconds_of(invocation, usual_seconds(*model));
  if (!seconds) return pass(seconds);
  auto seed = count_of(invocation, "--seed", 0, std::numeric_limits<std::int64_t>::max(), 1);
  if (!seed) return pass(seed);
  return ModelledRun{std::move(*model), std::move(*allocation), *seconds, *seed};
}

void print_figures(const ModelledFigures& figures, const tuner::PipelineModel& model) {
  const double rate = figures.splits_per_second();
  std::printf(
      "%s: %.2f splits/s (%s rows/s), %.1f %% of the oracle's %.2f\n",
      printable(model.name).c_str(), rate,
      format_count(static_cast<std::uint64_t>(rate * static_cast<double>(model.rows_per_split)))
          .c_str(),
      100 * figures.ratio(), figures.oracle_splits_per_second);
  std::printf("%u actors, prefetch %u; %.1f of %g CPUs busy; trainer waits %.1f %% of the time\n",
              figures.allocation.total_actors(), figures.allocation.prefetch, figures.cpus_used(),
              figures.measured.limits.cpus, 100 * figures.starved_ratio());
  std::printf("memory: at most %s of %s%s\n", format_size(figures.peak_memory_bytes).c_str(),
              format_size(figures.measured.limits.memory_bytes).c_str(),
              figures.out_of_memory ? ": OUT OF MEMORY, the run ended there" : "");
  std::printf("measured over %.0f s, until %.0f s\n\n", figures.measured.seconds,
              figures.measured.at_seconds);
  for (const std::string& line : align_columns(stage_rows(figures, model))) {
    print_line(line);
  }
}

}  // namespace forebay
