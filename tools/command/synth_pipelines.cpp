#include <cstdio>
#include <filesystem>

#include "core/base/random.h"
#include "engine/job/quantity.h"
#include "engine/modelled/pipeline_file.h"
#include "engine/outputs/outputs.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"
#include "tuner/sim/random_pipeline.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMostPipelines = 100'000;

struct PipelinesSpec {
  std::uint64_t count = 0;
  std::uint64_t seed = 1;
  std::string folder;
  bool replace = false;
  tuner::RandomPipelineOptions options;
};

Result<PipelinesSpec> read_spec(const Invocation& invocation) {
  PipelinesSpec spec;
  const auto count = parse_count(invocation.value("--count"));
  if (!invocation.has("--count") || !invocation.has("--out")) {
    return fail(Code::kInvalid,
                "synth pipelines needs --count N and --out DIR; see forebay synth --help");
  }
  if (!count || *count < 1 || *count > kMostPipelines) {
    return fail(Code::kInvalid, "--count " + invocation.value("--count") +
                                    ": must be a whole number from 1 to 100000");
  }
  const auto seed = parse_count(invocation.value("--seed", "1"));
  if (!seed) {
    return fail(Code::kInvalid,
                "--seed " + invocation.value("--seed") + ": must be a whole number");
  }
  spec.count = *count;
  spec.seed = *seed;
  spec.folder = invocation.value("--out");
  spec.replace = invocation.has("--force");
  spec.options.events = invocation.has("--events");
  return spec;
}

std::string name_of(const PipelinesSpec& spec, std::uint64_t number) {
  return "random-" + std::to_string(spec.seed) + "-" + std::to_string(number);
}

std::string path_of(const PipelinesSpec& spec, const std::string& name) {
  return (std::filesystem::path(spec.folder) / (name + ".toml")).string();
}

Status write_one(const PipelinesSpec& spec, std::uint64_t number) {
  auto model = tuner::random_pipeline(mix64(spec.seed, number), spec.options);
  model.name = name_of(spec, number);
  const std::string path = path_of(spec, model.name);
  if (!spec.replace && std::filesystem::exists(path)) {
    return fail(Code::kInvalid,
                path + " is there already; give another --out, or --force to write over it");
  }
  return save_pipeline(model, path);
}

Status check_files(const PipelinesSpec& spec) {
  std::vector<Output> outputs;
  for (std::uint64_t number = 0; number < spec.count; ++number) {
    outputs.push_back({.name = "--out", .path = path_of(spec, name_of(spec, number))});
  }
  return check_outputs(outputs, {});
}

}  // namespace

Exit run_synth_pipelines(const Invocation& invocation) {
  const auto spec = read_spec(invocation);
  if (!spec) return Exit::refused(spec.error());
  if (auto checked = check_files(*spec); !checked) return Exit::refused(checked.error());
  for (std::uint64_t number = 0; number < spec->count; ++number) {
    if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
    if (auto written = write_one(*spec, number); !written) return Exit::refused(written.error());
  }
  if (invocation.has("--json")) {
    print_json(JsonObject().add("files", spec->count).add("out", spec->folder));
  } else {
    std::printf("%s random pipelines in %s\n", format_count(spec->count).c_str(),
                spec->folder.c_str());
  }
  return Exit::done();
}

}  // namespace forebay
