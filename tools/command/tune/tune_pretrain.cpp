#include <cstdio>

#include "core/base/whole_file.h"
#include "engine/outputs/outputs.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "tools/command/arguments.h"
#include "tools/command/commands.h"
#include "tools/process/paths.h"
#include "tools/process/standard_streams.h"
#include "tools/process/stop_request.h"
#include "tuner/agent/network.h"
#include "tuner/agent/pretrain.h"

namespace forebay {
namespace {

Result<tuner::PretrainOptions> read_options(const Invocation& invocation) {
  constexpr std::uint64_t kMost = 9'999;
  tuner::PretrainOptions options;
  auto seed = count_of(invocation, "--seed", 1, kMost, 1);
  auto rounds = count_of(invocation, "--rounds", 1, kMost, options.rounds);
  auto experiments = count_of(invocation, "--pipelines", 1, kMost, options.experiments);
  for (auto* read : {&seed, &rounds, &experiments}) {
    if (!*read) return pass(*read);
  }
  options.seed = *seed;
  options.rounds = static_cast<std::uint32_t>(*rounds);
  options.experiments = static_cast<std::uint32_t>(*experiments);
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
