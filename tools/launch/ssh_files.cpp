#include <string>

#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

namespace forebay {

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
