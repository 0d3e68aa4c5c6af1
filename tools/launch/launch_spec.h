#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "tools/launch/fill.h"

namespace forebay {

/// Options of `forebay launch` besides the job file.
struct LaunchOptions {
  std::string command = "train";  ///< train | ingest
  std::uint64_t workers = 0;
  std::string out = {};  ///< Folder of the files; empty: `launch` in the job's folder.
  std::vector<std::string> sets = {};  ///< `--set` words, passed on to the trainer.
  std::uint16_t port = 0;  ///< The head's port; 0: any free port, which workers read from a file.
  std::string gpus = {};   ///< GPUs of the trainer; empty: one if the job's device is a GPU.
  std::string hosts = {};  ///< ssh: a host file to start from.
  std::string image = {};  ///< k8s: container image.
  std::string claim = {};  ///< k8s: PersistentVolumeClaim that holds the job's folder.
};

/// Everything that is needed to start a job on other machines. Paths are absolute.
struct LaunchSpec {
  std::string name;     ///< `forebay-ads-3f2a91`: unique to this job file on this machine.
  std::string forebay;  ///< The program.
  std::string job_file;
  std::string job_text;  ///< Content of the job file.
  std::string run_dir;
  std::string out;
  std::string keys;     ///< Folder of the CURVE keys; empty: loopback only.
  std::string listen;   ///< As given in the job; else derived from `keys` and `port`.
  std::string metrics;  ///< `cluster.metrics`.
  std::string head;     ///< `cluster.head`, which workers join; empty: the trainer's own head.
  int cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t grace_seconds = 5;
  LaunchOptions options;
};

/// A file that launch writes.
struct LaunchFile {
  std::string name;  ///< Relative to the output folder.
  std::uint32_t mode = 0644;
  std::string content;
  bool users = false;  ///< True: it belongs to the user once it exists and is never overwritten.
};

/// Completes `job` and `options` to a spec. `forebay` is the path of this program. kInvalid: a
/// listening address without a port, or a path that scripts cannot name on one line.
Result<LaunchSpec> launch_spec(const JobSpec& job, std::string job_text, std::string forebay,
                               LaunchOptions options);

/// Returns the values of the names that several launchers' templates share.
Blanks blanks_of_scripts(const LaunchSpec& spec);

/// Returns the MiB to ask a scheduler for: with a margin for memory that the kernel counts and the
/// process does not.
std::uint64_t mib_wanted(const LaunchSpec& spec);

/// Returns the file that the template `path` (below tools/launch/templates) gives, under its own
/// name.
LaunchFile filled_file(std::string_view path, std::uint32_t mode, const Blanks& blanks);

/// Returns the files of each launcher, from the spec alone.
std::vector<LaunchFile> slurm_files(const LaunchSpec& spec);
/// `hosts`: the text of a file that check_hosts() accepts; "": the template's.
std::vector<LaunchFile> ssh_files(const LaunchSpec& spec, const std::string& hosts);

/// Checks the hosts for ssh_files(), a line a host: HOST [slots=N] [role=worker|trainer]. kInvalid
/// names the line of `path`, what is wrong in it, and what it must be.
Status check_hosts(const std::string& path, std::string_view text);

/// A key file for a Secret.
struct KeyFile {
  std::string name;  ///< Relative to the keys' folder: `server.key`, `clients/node-7.key`.
  std::string content;
};
std::vector<LaunchFile> k8s_files(const LaunchSpec& spec, const std::vector<KeyFile>& keys);

/// What to do with files of an earlier launch that were edited since.
enum class Edited { kRefuse, kReplace };

/// Writes `files` into `folder`, which is created if it does not exist; each file appears complete
/// and with its mode, or not at all. Its last line is a digest, from which a later launch knows
/// whether the file was edited: then kInvalid names it before any file is written. A user's own
/// file is written only once. Returns the paths.
Result<std::vector<std::string>> write_files(const std::string& folder,
                                             const std::vector<LaunchFile>& files, Edited edited);

/// Returns the files of a folder that `forebay keys new` made, by name. kInvalid: there is no file,
/// a file is above 64 KiB, or its name does not suit a Kubernetes Secret.
Result<std::vector<KeyFile>> read_keys(const std::string& folder);

}  // namespace forebay
