#include <cstdio>
#include <functional>
#include <string>

#include "core/base/whole_file.h"
#include "engine/process/machine.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/process/process_end.h"
#include "tools/process/standard_streams.h"
#include "tuner/agent/network.h"
#include "tuner/agent/pretrain.h"
#include "tuner/paper/paper_pretrain.h"

namespace forebay {
namespace {

// `pipelines`: the member of `options` that says how many random pipelines a round has.
template <class Options>
Result<Options> read_options(const Invocation& invocation, std::uint32_t Options::*pipelines) {
  constexpr std::uint64_t kMost = 9'999;
  Options options;
  OptionReader read(invocation);
  read.count("--seed", options.seed, 1, kMost)
      .count("--rounds", options.rounds, 1, kMost)
      .count("--pipelines", options.*pipelines, 1, kMost);
  if (auto status = read.status(); !status) return pass(status);
  options.threads = available_cpus();
  options.stopped = StopRequest::requested;
  options.progress = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  return options;
}

/// Makes the weights of the policy that was named. An error: an option is wrong.
using MakeWeights = Result<std::function<tuner::Network()>> (*)(const Invocation&);

Result<std::function<tuner::Network()>> weights_of_intune(const Invocation& invocation) {
  auto options = read_options(invocation, &tuner::PretrainOptions::experiments);
  if (!options) return pass(options);
  return [given = *options] { return tuner::pretrain(given); };
}

Result<std::function<tuner::Network()>> weights_of_paper(const Invocation& invocation) {
  auto options = read_options(invocation, &tuner::PaperPretrainOptions::episodes);
  if (!options) return pass(options);
  return [given = *options] { return tuner::paper_pretrain(given); };
}

Result<MakeWeights> maker_for(const Invocation& invocation) {
  const std::string policy = invocation.has("--policy") ? invocation.value("--policy") : "intune";
  if (policy == "intune") return weights_of_intune;
  if (policy == "intune-paper") return weights_of_paper;
  return fail(Code::kInvalid,
              "tune pretrain: --policy is intune or intune-paper, not '" + policy + "'");
}

}  // namespace

Exit run_tune_pretrain(const Invocation& invocation) {
  const auto maker = maker_for(invocation);
  if (!maker) return Exit::refused(maker.error());
  const auto make = (*maker)(invocation);
  if (!make) return Exit::refused(make.error());
  if (!invocation.has("--out")) {
    return Exit::refused("tune pretrain: --out FILE says where the weights go");
  }
  const std::string path = invocation.value("--out");
  if (auto status = check_out_file(path, "a file of weights", tuner::are_weights); !status) {
    return Exit::refused(status.error());
  }
  StopRequest::install();
  const tuner::Network network = (*make)();
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
