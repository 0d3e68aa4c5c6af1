#include <algorithm>
#include <iterator>
#include <string>

#include "core/base/text/text.h"
#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

namespace forebay {
namespace {

constexpr std::uint16_t kPort = 29400;
constexpr std::uint16_t kMetricsPort = 9464;

std::string quoted_list(std::vector<std::string> list) {
  for (std::string& word : list) word = "            - " + yaml_text(word);
  return joined(list, "\n");
}

std::vector<std::string> trainer_arguments(const LaunchSpec& spec, const std::string& job_file,
                                           std::uint16_t port) {
  const bool trains = spec.options.command == "train";
  std::vector<std::string> list = {"forebay", spec.options.command, "/job/" + job_file, "--json"};
  const auto set = [&](const std::string& assignment) {
    list.insert(list.end(), {"--set", assignment});
  };
  // Kubernetes replaces $(NAME) in a command's words by a variable's value, and $$ by $.
  for (const std::string& assignment : spec.options.sets) set(replaced(assignment, "$", "$$"));
  // Set last, so that the pod's resources override those of the job's own machine.
  set("cluster.listen=tcp://0.0.0.0:" + std::to_string(port));
  if (!spec.keys.empty()) set("cluster.keys=/keys");
  if (!spec.metrics.empty()) set("cluster.metrics=0.0.0.0:" + std::to_string(kMetricsPort));
  // A restarted pod continues where the previous one ended.
  if (trains) list.emplace_back("--resume");
  return list;
}

std::vector<std::string> worker_arguments(const LaunchSpec& spec, std::uint16_t port) {
  std::vector<std::string> list = {"forebay",  "worker",
                                   "--join",   "tcp://" + spec.name + ":" + std::to_string(port),
                                   "--name",   "$(POD_NAME)",
                                   "--cpus",   std::to_string(spec.cpus),
                                   "--memory", std::to_string(spec.memory_bytes)};
  if (!spec.keys.empty()) list.insert(list.end(), {"--keys", "/keys"});
  if (!spec.metrics.empty()) {
    list.insert(list.end(), {"--metrics", "0.0.0.0:" + std::to_string(kMetricsPort)});
  }
  return list;
}

// A Secret has no folders: `clients/a.key` is stored as `clients__a.key` and mounted under its
// original name.
std::string entry_of(std::string name) {
  if (const std::size_t slash = name.find('/'); slash != std::string::npos) {
    name.replace(slash, 1, "__");
  }
  return name;
}

std::string secret_of(const std::vector<KeyFile>& keys) {
  std::vector<std::string> lines;
  lines.reserve(keys.size());
  for (const KeyFile& key : keys) {
    lines.push_back("  " + entry_of(key.name) + ": " + base64(key.content));
  }
  return joined(lines, "\n");
}

std::string key_items(const std::vector<KeyFile>& keys) {
  std::vector<std::string> lines;
  lines.reserve(keys.size());
  for (const KeyFile& key : keys) {
    lines.push_back("              - {key: " + entry_of(key.name) + ", path: " + key.name + "}");
  }
  return joined(lines, "\n");
}

// Selects only the keys that a worker needs: the head's secret key stays with the head.
std::vector<KeyFile> of_a_worker(const std::vector<KeyFile>& keys) {
  std::vector<KeyFile> some;
  std::ranges::copy_if(keys, std::back_inserter(some), [](const KeyFile& key) {
    return key.name == "server.key" || key.name == "client.key" || key.name == "client.key_secret";
  });
  return some;
}

Blanks key_blanks(const std::vector<KeyFile>& keys) {
  const std::vector<KeyFile> some = of_a_worker(keys);
  return {{"KEYS", keys.empty() ? "" : "yes"},
          {"HEAD_KEYS", secret_of(keys)},
          {"WORKER_KEYS", secret_of(some)},
          {"HEAD_KEY_ITEMS", key_items(keys)},
          {"WORKER_KEY_ITEMS", key_items(some)}};
}

}  // namespace

std::vector<LaunchFile> k8s_files(const LaunchSpec& spec, const std::vector<KeyFile>& keys) {
  const std::uint16_t port = spec.options.port == 0 ? kPort : spec.options.port;
  const std::string job_file = "job.toml";
  const std::string& gpus = spec.options.gpus;
  const std::string& claim = spec.options.claim;
  std::string job_text = indented(spec.job_text, 4);
  if (!job_text.empty()) job_text.pop_back();  // The template's line has a line break of its own.
  Blanks blanks = {{"JOB_FILE", job_file},
                   {"JOB_TEXT", job_text},
                   {"PORT", std::to_string(port)},
                   {"GRACE", std::to_string(spec.grace_seconds + 10)},
                   {"IMAGE", yaml_text(spec.options.image)},
                   {"COMMAND_WORDS", quoted_list(trainer_arguments(spec, job_file, port))},
                   {"WORKER_WORDS", quoted_list(worker_arguments(spec, port))},
                   {"MEMORY", std::to_string(mib_wanted(spec))},
                   {"GPU_REQUEST", gpus.empty() ? "" : ", nvidia.com/gpu: \"" + gpus + "\""},
                   {"METRICS_PORT", spec.metrics.empty() ? "" : std::to_string(kMetricsPort)},
                   {"CLAIM", claim.empty() ? "" : yaml_text(claim)},
                   {"READ_ONLY", claim.empty() ? "" : ", readOnly: true"}};
  blanks.merge(key_blanks(keys));
  blanks.merge(blanks_of_scripts(spec));
  std::vector<LaunchFile> files;
  for (const char* name : {"kustomization", "config", "service", "trainer", "workers"}) {
    files.push_back(filled_file("k8s/" + std::string(name) + ".yaml", 0644, blanks));
  }
  files.push_back(filled_file("k8s/scale.sh", 0755, blanks));
  if (!keys.empty()) files.push_back(filled_file("k8s/secret.yaml", 0600, blanks));
  return files;
}

}  // namespace forebay
