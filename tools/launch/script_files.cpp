#include <algorithm>
#include <string>

#include "core/base/text/shell_word.h"
#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

namespace forebay {
namespace {

std::uint64_t mib_per_cpu(const LaunchSpec& spec) {
  const std::uint64_t cpus = static_cast<std::uint64_t>(std::max(spec.cpus, 1));
  return (mib_wanted(spec) + cpus - 1) / cpus;
}

Blanks slurm_blanks(const LaunchSpec& spec) {
  const bool apart = !spec.options.gpus.empty() && spec.options.workers > 0;
  Blanks blanks = {{"SCRIPT", shell_word(spec.out + "/job.sbatch")},
                   {"SCALE", shell_word(spec.out + "/scale.sh")},
                   {"LOGS", shell_word(spec.run_dir + "/logs")},
                   {"NOTICE", std::to_string(spec.grace_seconds + 60)},
                   {"NODES", std::to_string(spec.options.workers + 1)},
                   {"MEMORY", std::to_string(mib_per_cpu(spec))},
                   {"APART", apart ? "yes" : ""},
                   {"GPUS", spec.options.gpus},
                   {"KEYS", spec.keys.empty() ? "" : " --keys " + shell_word(spec.keys)},
                   {"GRACE", std::to_string(spec.grace_seconds + 10)},
                   {"HEAD", spec.head.empty() ? "\"$address_file\"" : shell_word(spec.head)},
                   {"PATIENCE", "3600"}};
  blanks.merge(blanks_of_scripts(spec));
  return blanks;
}

}  // namespace

std::vector<LaunchFile> slurm_files(const LaunchSpec& spec) {
  const Blanks blanks = slurm_blanks(spec);
  return {filled_file("slurm/job.sbatch", 0755, blanks),
          filled_file("slurm/worker.sh", 0755, blanks),
          filled_file("slurm/worker.sbatch", 0755, blanks),
          filled_file("slurm/scale.sh", 0755, blanks)};
}

std::vector<LaunchFile> ssh_files(const LaunchSpec& spec, const std::string& hosts) {
  Blanks blanks = {{"HEAD", spec.head.empty() ? "" : shell_word(spec.head)},
                   {"KEYS", spec.keys.empty() ? "" : shell_word(spec.keys)},
                   {"GRACE", std::to_string(spec.grace_seconds + 5)}};
  blanks.merge(blanks_of_scripts(spec));
  LaunchFile hosts_file = filled_file("ssh/hosts", 0644, blanks);
  hosts_file.users = hosts.empty();
  if (!hosts.empty()) hosts_file.content = hosts;
  return {std::move(hosts_file),
          filled_file("ssh/cluster.sh", 0644, blanks),
          filled_file("ssh/task.sh", 0755, blanks),
          filled_file("ssh/start.sh", 0755, blanks),
          filled_file("ssh/stop.sh", 0755, blanks),
          filled_file("ssh/scale.sh", 0755, blanks)};
}

}  // namespace forebay
