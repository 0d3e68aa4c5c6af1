#include <cstdio>

#include "core/base/whole_file.h"
#include "engine/job/quantity.h"
#include "engine/outputs/outputs.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/stop_request.h"
#include "tools/synth/synth_files.h"
#include "tools/terminal/print_json.h"

namespace forebay {
namespace {

// Returns the option's whole number; nullopt if it is not one.
std::optional<std::uint64_t> count_of(const Invocation& invocation, const std::string& option,
                                      const std::string& otherwise) {
  return parse_count(invocation.value(option, otherwise));
}

Result<SynthSpec> read_spec(const Invocation& invocation) {
  if (invocation.arguments.front() != "criteo") {
    return fail(Code::kInvalid, "synth " + invocation.arguments.front() +
                                    ": no such layout; known are criteo and pipelines");
  }
  SynthSpec spec;
  const struct {
    const char* option;
    const char* otherwise;
    std::uint64_t* into;
  } counts[] = {
      {"--rows", "", &spec.rows}, {"--files", "1", &spec.files}, {"--seed", "1", &spec.seed}};
  for (const auto& [option, otherwise, into] : counts) {
    const auto count = count_of(invocation, option, otherwise);
    if (!count) {
      return fail(Code::kInvalid,
                  invocation.has(option)
                      ? option + (" " + invocation.value(option)) + ": must be a whole number"
                      : "synth needs " + std::string(option) + " N; see forebay synth --help");
    }
    *into = *count;
  }
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

}  // namespace

Exit run_synth(const Invocation& invocation) {
  if (invocation.arguments.front() == "pipelines") return run_synth_pipelines(invocation);
  const auto spec = read_spec(invocation);
  if (!spec) return Exit::refused(spec.error());
  if (auto checked = check_synth(*spec); !checked) return Exit::refused(checked.error());
  if (auto checked = check_files(*spec); !checked) return Exit::refused(checked.error());
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
  if (invocation.has("--json")) {
    print_json(JsonObject()
                   .add("rows", written->rows)
                   .add("bytes", written->bytes)
                   .add("files", written->files)
                   .add("best_auc", written->best_auc));
    return Exit::done();
  }
  std::printf("%s rows, %s, %s files in %s; no model can have an AUC above %.4f on them\n",
              format_count(written->rows).c_str(), format_size(written->bytes).c_str(),
              format_count(written->files).c_str(), spec->folder.c_str(),
              written->best_auc.value_or(0.5));
  return Exit::done();
}

}  // namespace forebay
