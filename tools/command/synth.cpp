#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <utility>

#include "core/base/random.h"
#include "core/base/text/counted.h"
#include "core/base/whole_file.h"
#include "engine/job/quantity.h"
#include "engine/modelled/pipeline_file.h"
#include "engine/outputs/outputs.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tools/synth/synth_files.h"
#include "tuner/sim/random_pipeline.h"

namespace forebay {
namespace {

constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();

/// Refuses options of the other kind of made-up data.
Status refuse_options(const Invocation& invocation, std::initializer_list<const char*> options,
                      const char* other) {
  for (const char* option : options) {
    if (invocation.has(option)) {
      return fail(Code::kInvalid, "synth " + invocation.arguments.front() + ": " + option +
                                      " is of synth " + other + "; see forebay synth --help");
    }
  }
  return {};
}

Result<SynthSpec> read_spec(const Invocation& invocation) {
  if (invocation.arguments.front() != "criteo") {
    return fail(Code::kInvalid, "synth " + invocation.arguments.front() +
                                    ": no such layout; known are criteo and pipelines");
  }
  Status refused = refuse_options(invocation, {"--count", "--events"}, "pipelines");
  if (!refused) return pass(refused);
  SynthSpec spec;
  if (!invocation.has("--rows")) {
    return fail(Code::kInvalid, "synth needs --rows N; see forebay synth --help");
  }
  OptionReader read(invocation);
  read.count("--rows", spec.rows, 0, kMost)
      .count("--files", spec.files, 0, kMost)
      .count("--seed", spec.seed, 0, kMost);
  if (auto status = read.status(); !status) return pass(status);
  spec.folder = invocation.value("--out");
  if (invocation.has("--force")) spec.existing = SynthSpec::Existing::kReplace;
  return spec;
}

/// --force replaces files, but not those that a run is reading.
Status check_files(const SynthSpec& spec) {
  std::vector<Output> outputs;
  for (std::string& file : synth_files(spec)) {
    outputs.push_back({.name = "--out", .path = std::move(file), .aside = kAside});
  }
  return check_outputs(outputs, {});
}

struct PipelinesSpec {
  std::uint64_t count = 0;
  std::uint64_t seed = 1;
  std::string folder;
  SynthSpec::Existing existing = SynthSpec::Existing::kRefuse;
  tuner::RandomPipelineOptions options;
};

Result<PipelinesSpec> read_pipelines_spec(const Invocation& invocation) {
  Status refused = refuse_options(invocation, {"--rows", "--files"}, "criteo");
  if (!refused) return pass(refused);
  PipelinesSpec spec;
  if (!invocation.has("--count") || !invocation.has("--out")) {
    return fail(Code::kInvalid,
                "synth pipelines needs --count N and --out DIR; see forebay synth --help");
  }
  OptionReader read(invocation);
  read.count("--count", spec.count, 1, 100'000).count("--seed", spec.seed, 0, kMost);
  if (auto status = read.status(); !status) return pass(status);
  spec.folder = invocation.value("--out");
  if (invocation.has("--force")) spec.existing = SynthSpec::Existing::kReplace;
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
  return save_pipeline(model, path_of(spec, model.name));
}

/// Checks the files, and locks their folder until the returned descriptor is closed.
Result<Descriptor> hold_files(const PipelinesSpec& spec) {
  std::vector<std::string> files;
  std::vector<Output> outputs;
  for (std::uint64_t number = 0; number < spec.count; ++number) {
    files.push_back(path_of(spec, name_of(spec, number)));
    outputs.push_back({.name = "--out", .path = files.back()});
  }
  auto held = hold_new_files(spec.folder, files, spec.existing);
  if (!held) return held;
  if (auto checked = check_outputs(outputs, {}); !checked) return pass(checked);
  return held;
}

Exit synth_pipelines(const Invocation& invocation) {
  const auto spec = read_pipelines_spec(invocation);
  if (!spec) return Exit::refused(spec.error());
  const auto held = hold_files(*spec);
  if (!held) return Exit::refused(held.error());
  for (std::uint64_t number = 0; number < spec->count; ++number) {
    if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
    if (auto written = write_one(*spec, number); !written) return Exit::failed(written.error());
  }
  return print_result(invocation, JsonObject().add("files", spec->count).add("out", spec->folder),
                      [&] {
                        std::printf("%s random pipelines in %s\n",
                                    format_count(spec->count).c_str(), spec->folder.c_str());
                      });
}

}  // namespace

Exit run_synth(const Invocation& invocation) {
  if (invocation.arguments.front() == "pipelines") return synth_pipelines(invocation);
  const auto spec = read_spec(invocation);
  if (!spec) return Exit::refused(spec.error());
  const auto held = hold_synth(*spec);
  if (!held) return Exit::refused(held.error());
  if (auto checked = check_files(*spec); !checked) return Exit::refused(checked.error());
  if (const auto older = older_files(*spec); !older.empty()) {
    print_message("--out " + spec->folder + " has " + std::to_string(older.size()) +
                  " more of an earlier run, from " + older.front() +
                  " on: a job over all files there reads both; remove them, or give another --out");
  }
  std::uint64_t next_tenth = 1;
  const auto written = write_synth(*spec, [&](std::uint64_t rows) {
    if (rows * 10 >= next_tenth * spec->rows && spec->rows > 1'000'000) {
      std::fprintf(stderr, "forebay: %s of %s rows\n", format_count(rows).c_str(),
                   format_count(spec->rows).c_str());
      next_tenth = rows * 10 / spec->rows + 1;
    }
    return !StopRequest::requested();
  });
  if (!written && StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  if (!written) return Exit::failed(written.error());
  const auto print_text = [&] {
    std::printf("%s, %s, %s in %s; no model can have an AUC above %.4f on them\n",
                format_counted(written->rows, "row").c_str(), format_size(written->bytes).c_str(),
                format_counted(written->files, "file").c_str(), spec->folder.c_str(),
                written->best_auc.value_or(0.5));
  };
  return print_result(invocation,
                      JsonObject()
                          .add("rows", written->rows)
                          .add("bytes", written->bytes)
                          .add("files", written->files)
                          .add("best_auc", written->best_auc),
                      print_text);
}

}  // namespace forebay
