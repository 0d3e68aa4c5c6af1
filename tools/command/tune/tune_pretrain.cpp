#include <cstdio>

#include "core/base/whole_file.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tuner/agent/network.h"
#include "tuner/agent/pretrain.h"

namespace forebay {
namespace {

Result<tuner::PretrainOptions> read_options(const Invocation& invocation) {
  constexpr std::uint64_t kMost = 9'999;
  tuner::PretrainOptions options;
  OptionReader read(invocation);
  read.count("--seed", options.seed, 1, kMost)
      .count("--rounds", options.rounds, 1, kMost)
      .count("--pipelines", options.experiments, 1, kMost);
  if (auto status = read.status(); !status) return pass(status);
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
  if (auto status = check_out_file(path); !status) return Exit::refused(status.error());
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
