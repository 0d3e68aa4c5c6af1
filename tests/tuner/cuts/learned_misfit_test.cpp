#include "tuner/cuts/learned_misfit.h"

#include <string>
#include <vector>

#include "tuner/policy/policies.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A pipeline of these stages; if `joins`, each may be done by the actors of the one before it.
PipelineDescription stages_of(const std::vector<std::string>& names, bool joins) {
  PipelineDescription description;
  for (const std::string& name : names) {
    description.stages.push_back({.name = name, .max_actors = 16, .bytes_per_actor = 10});
    if (joins && name != names.front()) description.stages.back().least_actors = 0;
  }
  return description;
}

std::string learned_in(const PipelineDescription& description) {
  PolicyContext context;
  context.description = description;
  context.limits = {.cpus = 4, .memory_bytes = 1 << 20};
  return make_policy("intune", context).value()->learned_state();
}

}  // namespace

TEST_CASE("a learned state that does not fit says whether stages, fusing or the version differ",
          "[tuner][cuts]") {
  const PipelineDescription plain = stages_of({"load", "decode"}, false);
  const PipelineDescription fusable = stages_of({"load", "decode"}, true);
  CHECK(describe_misfit(learned_in(stages_of({"load", "udf"}, false)), plain) ==
        "is of a run with the stages load, udf; this one has load, decode");
  CHECK(describe_misfit(learned_in(stages_of({"load", "udf"}, true)), plain) ==
        "is of a run with the stages load, udf; this one has load, decode");
  const std::string fuses_others =
      "is of a run that fuses other stages (pipeline.fuse; with workers none)";
  CHECK(describe_misfit(learned_in(fusable), plain) == fuses_others);
  CHECK(describe_misfit(learned_in(plain), fusable) == fuses_others);
  CHECK(describe_misfit(learned_in(stages_of({"load+decode"}, false)), plain) == fuses_others);
  CHECK(describe_misfit(learned_in(plain), stages_of({"load+decode"}, false)) == fuses_others);
  PipelineDescription partly = stages_of({"load", "decode", "udf"}, true);
  const std::string learned = learned_in(partly);
  CHECK(learned.find("|++") != std::string::npos);
  partly.stages[2].least_actors = 1;
  CHECK(describe_misfit(learned, partly) == fuses_others);
  CHECK(describe_misfit(R"({"version":99,"stages":["load","decode"]})", plain) ==
        "is of another version");
  CHECK(describe_misfit("no JSON", plain) == "is of another version");
}

}  // namespace forebay::tuner
