#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/text/printable.h"
#include "core/base/text/shell_word.h"
#include "core/base/text/text.h"
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

/// Takes the next word of a line; "" at its end.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

bool is_host_setting(std::string_view word) {
  constexpr std::string_view kSlots = "slots=";
  constexpr std::size_t kMostDigits = 4;
  if (word == "role=worker" || word == "role=trainer") return true;
  if (!word.starts_with(kSlots)) return false;
  word.remove_prefix(kSlots.size());
  return !word.empty() && word.size() <= kMostDigits &&
         word.find_first_not_of("0123456789") == word.npos;
}

/// Returns what is wrong in the line of a host; "" if nothing is.
std::string fault_of(std::string_view line) {
  const std::string_view host = next_word(line);
  // ssh would take it for an option.
  if (host.starts_with('-')) return printable(host) + " is no host";
  for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
    if (!is_host_setting(word)) {
      return printable(word) +
             " is neither slots=N, N at most 9999, nor role=worker or "
             "role=trainer";
    }
  }
  return "";
}

}  // namespace

Status check_hosts(const std::string& path, std::string_view text) {
  const auto refuse = [&](std::size_t number, const std::string& fault) {
    return fail(Code::kInvalid, path + ", line " + std::to_string(number) + ": " + fault +
                                    "; write HOST [slots=N] [role=worker|trainer]");
  };
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_until(text, '\n');
    std::string_view rest = line;
    const std::string_view first = next_word(rest);
    if (first.empty() || first.starts_with('#')) continue;
    const std::string fault = fault_of(line);
    if (!fault.empty()) return refuse(number, fault);
  }
  return {};
}

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
