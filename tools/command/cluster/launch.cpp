#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/text/shell_word.h"
#include "core/base/whole_file.h"
#include "engine/job/quantity.h"
#include "engine/job/text_file.h"
#include "engine/outputs/job_files.h"
#include "engine/report/json_object.h"
#include "tools/command/commands.h"
#include "tools/launch/launch_spec.h"
#include "tools/process/paths.h"
#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

void say(const std::string& line) { print_message("launch: " + line); }

// Kubernetes requires a DNS-1123 subdomain as the name of a volume claim.
bool is_claim_name(const std::string& name) {
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return name.size() <= 253 && is_end(name.front()) && is_end(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_end(c) || c == '-' || c == '.'; });
}

// References contain no blanks; only a cluster knows whether the image exists.
bool is_image_name(const std::string& name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > 32 && c < 127; });
}

Status read_names(const Invocation& invocation, LaunchOptions& options) {
  options.image = invocation.value("--image", "REGISTRY/forebay:TAG");
  options.claim = invocation.value("--claim");
  if (!is_image_name(options.image)) {
    return fail(Code::kInvalid, "--image " + options.image +
                                    ": must be a container image, such as registry:5000/forebay:1");
  }
  if (options.claim.empty() || is_claim_name(options.claim)) return {};
  return fail(Code::kInvalid, "--claim " + options.claim +
                                  ": must be a volume claim's name: lower-case letters, digits, "
                                  "dashes and dots");
}

Result<LaunchOptions> options_of(const Invocation& invocation) {
  LaunchOptions options{.workers = 1};
  std::uint64_t gpus = 0;
  OptionReader read(invocation);
  read.command(options.command)
      .count("--workers", options.workers, 0, 100'000)
      .port("--port", options.port, 0)
      .count("--gpus", gpus, 0, 1024);
  if (auto status = read.status(); !status) return pass(status);
  options.gpus = gpus > 0 ? std::to_string(gpus) : "";
  options.out = invocation.value("--out");
  options.sets = invocation.values("--set");
  if (auto status = read_names(invocation, options); !status) return pass(status);
  return options;
}

/// The files of a launch, the command that starts it, and the path of the trainer's output.
struct Launch {
  std::vector<LaunchFile> files;
  /// A shell command that prints the id of the started job in its first line of stdout.
  std::string submit;
  std::string output;
};

Result<Launch> slurm_launch(const LaunchSpec& spec) {
  if (spec.run_dir.find('%') != std::string::npos) {
    return fail(Code::kInvalid, "run.dir " + spec.run_dir +
                                    ": holds a %, which Slurm replaces in the names of logs; move "
                                    "the job, or set run.dir to another folder");
  }
  if (spec.keys.empty() && spec.options.workers > 0) {
    say("without cluster.keys workers on other nodes are refused; forebay keys new makes them");
  }
  return Launch{slurm_files(spec), "sbatch --parsable " + shell_word(spec.out + "/job.sbatch"),
                spec.run_dir + "/logs/slurm-%j.out"};
}

Result<Launch> ssh_launch(const LaunchSpec& spec) {
  std::string hosts;
  if (!spec.options.hosts.empty()) {
    auto text = read_text_file("host file", spec.options.hosts);
    if (!text) return pass(text);
    if (auto known = check_hosts(spec.options.hosts, *text); !known) return pass(known);
    hosts = std::move(*text);
  }
  if (spec.keys.empty() && spec.options.workers > 0) {
    say("without cluster.keys workers on other hosts are refused; forebay keys new makes them");
  }
  const std::string start = "setsid " + shell_word(spec.out + "/start.sh") +
                            " </dev/null >/dev/null 2>" +
                            shell_word(spec.run_dir + "/logs/ssh-start.log") + " & echo $!";
  return Launch{ssh_files(spec, hosts), start, spec.run_dir + "/logs/ssh-trainer.out"};
}

Result<Launch> k8s_launch(const LaunchSpec& spec) {
  if (spec.keys.empty()) {
    return fail(Code::kInvalid,
                "cluster.keys is missing, and pods are reached by addresses beyond loopback: "
                "forebay keys new keys, then [cluster] keys = \"keys\"");
  }
  if (!spec.head.empty()) {
    return fail(Code::kInvalid,
                "cluster.head " + spec.head +
                    ": on Kubernetes the head is in the trainer's pod; add --set cluster.head=");
  }
  auto keys = read_keys(spec.keys);
  if (!keys) return pass(keys);
  return Launch{k8s_files(spec, *keys),
                "kubectl apply -k " + shell_word(spec.out) + " >&2 && echo job/" + spec.name,
                "kubectl logs --follow job/" + spec.name};
}

Result<Launch> launch_of(const std::string& kind, const LaunchSpec& spec) {
  if (kind == "slurm") return slurm_launch(spec);
  if (kind == "ssh") return ssh_launch(spec);
  if (kind == "k8s") return k8s_launch(spec);
  return fail(Code::kInvalid, "launch " + kind + ": must be slurm, k8s or ssh");
}

/// Starts the written launch; returns its id.
Result<std::string> submit(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return fail(Code::kUnavailable, std::string("launch: no process can be started for a shell: ") +
                                        std::strerror(errno) + "; see ulimit -u and ulimit -n");
  }
  std::array<char, 4096> said{};
  const std::size_t size = std::fread(said.data(), 1, said.size(), pipe);
  const int status = ::pclose(pipe);
  const std::string text(said.data(), size);
  const std::string id = text.substr(0, text.find_first_of("\n;"));
  if (status != 0 || id.empty()) {
    return fail(Code::kUnavailable, "launch: not started; this failed: " + command +
                                        " (what it wrote is there to edit)");
  }
  return id;
}

/// The launch to start, and the files that the job reads on this machine.
struct Planned {
  LaunchSpec spec;
  Inputs inputs;
};

Result<Planned> plan_of(const Invocation& invocation) {
  auto options = options_of(invocation);
  if (!options) return pass(options);
  if (invocation.has("--hosts")) options->hosts = invocation.value("--hosts");
  Invocation of_job = invocation;
  of_job.arguments.erase(of_job.arguments.begin());
  auto job = open_job(of_job);
  if (!job) return pass(job);
  auto text = read_text_file("job file", job->path);
  if (!text) return pass(text);
  auto forebay = own_path();
  if (!forebay) return pass(forebay);
  Inputs inputs = inputs_of(*job);
  inputs.add_file("--hosts", options->hosts);
  auto spec = launch_spec(*job, std::move(*text), std::move(*forebay), std::move(*options));
  if (!spec) return pass(spec);
  return Planned{std::move(*spec), std::move(inputs)};
}

Status check_files(const Planned& planned, const std::vector<LaunchFile>& files) {
  std::vector<Output> outputs;
  for (const LaunchFile& file : files) {
    const std::string path = planned.spec.out + "/" + file.name;
    std::error_code error;
    if (file.users && std::filesystem::exists(path, error)) continue;
    outputs.push_back({.name = "--out", .path = path, .aside = kAside});
  }
  return check_outputs(outputs, planned.inputs);
}

Exit report(const Invocation& invocation, const std::vector<std::string>& files, std::string output,
            const std::string& id) {
  if (const std::size_t at = output.find("%j"); at != std::string::npos && !id.empty()) {
    output.replace(at, 2, id);
  }
  JsonObject json;
  json.add("files", files).add("output", output);
  if (!id.empty()) json.add("job_id", id);
  return print_result(invocation, json, [&] {
    for (const std::string& file : files) std::printf("%s\n", file.c_str());
    if (!id.empty()) std::printf("started %s; its result: %s\n", id.c_str(), output.c_str());
  });
}

}  // namespace

Exit run_launch(const Invocation& invocation) {
  const std::string& kind = invocation.arguments.front();
  const auto planned = plan_of(invocation);
  if (!planned) return Exit::refused(planned.error());
  const LaunchSpec* const spec = &planned->spec;
  auto launch = launch_of(kind, *spec);
  if (!launch) return Exit::refused(launch.error());
  const bool submits = invocation.has("--submit");
  if (submits && kind == "k8s" && !invocation.has("--image")) {
    return Exit::refused("launch k8s --submit needs --image, a container image with forebay in it");
  }
  if (auto checked = check_files(*planned, launch->files); !checked) {
    return Exit::refused(checked.error());
  }
  std::error_code error;
  std::filesystem::create_directories(spec->run_dir + "/logs", error);
  const Edited edited = invocation.has("--force") ? Edited::kReplace : Edited::kRefuse;
  auto files = write_files(spec->out, launch->files, edited);
  if (!files) return Exit::refused(files.error());
  std::string id;
  if (submits) {
    auto started = submit(launch->submit);
    if (!started) return Exit::failed(started.error());
    id = *started;
  }
  return report(invocation, *files, launch->output, id);
}

}  // namespace forebay
