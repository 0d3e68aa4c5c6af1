
#include "tools/command/commands.h"

namespace forebay {
namespace {

std::vector<Command> parts_of_tune() {
  return {
      {.name = "tune show",
       .summary = "shows what the tuner of a run decided, and why",
       .argument = "[LOG]",
       .options = {kJsonOption},
       .example = "  forebay tune show                    # the last run of the job that is here\n"
                  "  forebay tune show .forebay/decisions.1.jsonl --json",
       .run = run_tune_show},
      {.name = "tune replay",
       .summary = "feeds a decision log to its policy again and says where it would differ",
       .argument = "[LOG]",
       .options = {kJsonOption},
       .example = "  forebay tune replay .forebay/decisions.jsonl",
       .run = run_tune_replay},
      {.name = "tune freeze",
       .summary = "writes a run's last allocation into its job file and turns the tuner off",
       .argument = "JOB",
       .options = {{"--log", "FILE", "the decision log (default: the last run's, in .forebay)"},
                   kSetOption,
                   kJsonOption},
       .example = "  forebay tune freeze job.toml",
       .run = run_tune_freeze},
      {.name = "tune compare",
       .summary = "runs policies on modelled pipelines and says how near each comes to the best",
       .argument = "PIPELINE…",
       .options = {{"--policies", "P,…",
                    "policies, as in greedy,max; behind a colon an ablation, as in "
                    "intune:no-network (default: all but static, one and oracle)"},
                   {"--machine", "simulated|emulated",
                    "simulated (default), or emulated: in real time"},
                   {"--decisions", "N", "of each run (default 60, or 300 s past the last event)"},
                   {"--seeds", "K",
                    "runs of each policy on each pipeline: seeds 1 to K (default 3)"},
                   {"--weights", "FILE", "what intune's network is made of (default: the shipped)"},
                   {"--report", "DIR", "write tables, CSV files and plots there"},
                   kJsonOption},
       .example = "  forebay synth pipelines --count 2 --seed 3 --out unseen\n"
                  "  forebay tune compare unseen/*.toml --policies intune,greedy --report out\n"
                  "  forebay tune compare unseen --seeds 1 --json",
       .run = run_tune_compare},
      {.name = "tune pretrain",
       .summary = "makes the shipped weights of intune anew, in the simulator; the same bits",
       .options = {{"--out", "FILE", "where the weights go"},
                   {"--policy", "P", "whose: intune (default) or intune-paper"},
                   {"--seed", "S", "other random pipelines (default 1)"},
                   {"--rounds", "N", "of experiments and learning (default: as shipped)"},
                   {"--pipelines", "N", "random pipelines a round (default: as shipped)"},
                   kJsonOption},
       .example = "  forebay tune pretrain --out intune.weights    # minutes",
       .run = run_tune_pretrain},
  };
}

}  // namespace

Command tune_command() {
  return {.name = "tune",
          .summary = "shows, replays and freezes what the tuner decided; compares policies",
          .argument = "[COMMAND]",
          .options = {{"--policies", "", "list the policies and what each follows"}, kJsonOption},
          .example =
              "  forebay tune --policies\n"
              "  forebay tune show",
          .run = run_tune,
          .parts = parts_of_tune()};
}

Exit run_tune(const Invocation& invocation) {
  if (invocation.has("--policies")) return print_policies(invocation);
  std::string known;
  for (const Command& part : parts_of_tune()) {
    known += (known.empty() ? "" : ", ") + std::string(part.name);
  }
  const std::string wrong =
      invocation.arguments.empty() ? "" : "no such command: " + invocation.arguments.front() + "; ";
  return Exit::refused("tune: " + wrong + "there are " + known + "; see forebay tune --help");
}

}  // namespace forebay
