#include <cstdio>

#include "core/base/whole_file.h"
#include "engine/job/quantity.h"
#include "engine/outputs/outputs.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/output_path.h"
#include "tools/process/stop_request.h"
#include "tools/terminal/print_json.h"
#include "tuner/agent/pretrain.h"
#include "tuner/agent/weights.h"

namespace forebay {
namespace {

Result<std::uint32_t> count_of(const Invocation& invocation, const std::string& option,
                               std::uint32_t otherwise) {
  if (!invocation.has(option)) return otherwise;
  const auto count = parse_count(invocation.value(option));
  if (count && *count >= 1 && *count <= 9'999) return static_cast<std::uint32_t>(*count);
  return fail(Code::kInvalid,
              option + " " + invocation.value(option) + ": must be a whole number from 1 to 9999");
}

Result<tuner::PretrainOptions> read_options(const Invocation& invocation) {
  tuner::PretrainOptions options;
  const auto seed = count_of(invocation, "--seed", 1);
  const auto rounds = count_of(invocation, "--rounds", options.rounds);
  const auto experiments = count_of(invocation, "--pipelines", options.experiments);
  for (const auto* read : {&seed, &rounds, &experiments}) {
    if (!*read) return fail(read->error().code, read->error().message);
  }
  options.seed = *seed;
  options.rounds = *rounds;
  options.experiments = *experiments;
  options.threads = available_cpus();
  options.stopped = StopRequest::requested;
  options.progress = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  return options;
}

}  // namespace

Exit run_tune_pretrain(const Invocation& invocation) {
  const auto options = read_options(invocation);
  if (!options) return Exit::refused(options.error());
  if (!invocation.has("--out")) {
    return Exit::refused("tune pretrain: --out FILE says where the weights go");
  }
  const std::string path = invocation.value("--out");
  if (auto place = check_output_path("--out", path); !place) return Exit::refused(place.error());
  const Output output{.name = "--out", .path = path, .aside = kAside};
  if (auto status = check_outputs({output}, {}); !status) return Exit::refused(status.error());
  StopRequest::install();
  const tuner::Network network = tuner::pretrain(*options);
  if (StopRequest::requested()) return Exit::stopped(StopRequest::signal());
  const std::string bytes = tuner::encode_weights(network);
  if (auto written = replace_whole(path, bytes, Sync::kYes); !written) {
    return Exit::failed(written.error());
  }
  std::printf("%s: %zu weights, %zu bytes\n", path.c_str(), network.weights().size(), bytes.size());
  if (invocation.has("--json")) {
    JsonObject json;
    json.add("file", path).add("weights", network.weights().size()).add("bytes", bytes.size());
    print_json(json);
  }
  return Exit::done();
}

}  // namespace forebay
