#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "engine/job/job_spec.h"

namespace forebay {

/// What `forebay launch` was asked for beyond the job file.
struct LaunchOptions {
  std::string command = "train";  ///< train | ingest
  std::uint64_t workers = 0;
  std::string out = {};                ///< Folder of the files; empty: `launch` in the job's own.
  std::vector<std::string> sets = {};  ///< `--set` words, passed on to the trainer.
  std::uint16_t port = 0;              ///< The head's port; 0: any, told to workers through a file.
  std::string gpus = {};   ///< GPUs of the trainer; empty: one if the job's device is one.
  std::string hosts = {};  ///< ssh: a host file to start from.
  std::string image = {};  ///< k8s: container image.
  std::string claim = {};  ///< k8s: PersistentVolumeClaim that holds the job's folder.
};

/// What starts a job somewhere, with nothing left to look up. Paths are absolute.
struct LaunchSpec {
  std::string name;     ///< `forebay-ads-3f2a91`: of this job file on this machine and no other.
  std::string forebay;  ///< The program.
  std::string job_file;
  std::string job_text;  ///< What stands in it.
  std::string job_dir;
  std::string run_dir;
  std::string out;
  std::string keys;     ///< Folder of the CURVE keys; empty: loopback only.
  std::string listen;   ///< As the job gives it, else what fits `keys` and `port`.
  std::string metrics;  ///< `cluster.metrics`.
  std::string head;     ///< `cluster.head`, which workers join; empty: the trainer's own.
  int cpus = 1;
  std::uint64_t memory_bytes = 0;
  std::uint64_t grace_seconds = 5;
  LaunchOptions options;
};

/// A file that launch writes.
struct LaunchFile {
  std::string name;  ///< In the output folder.
  std::uint32_t mode = 0644;
  std::string content;
  bool users = false;  ///< The user's once it is there: never written over.
};

/// Completes `job` and `options` to a spec. `forebay` is the program's own path. kInvalid for a
/// listening address without a port, and for a path that scripts cannot name on one line.
Result<LaunchSpec> launch_spec(const JobSpec& job, std::string job_text, std::string forebay,
                               LaunchOptions options);

/// ` --metrics HOST:0` where the job has `cluster.metrics`: several workers may share a machine, so
/// each takes a free port there and says which. Empty: none.
std::string worker_metrics(const LaunchSpec& spec);

/// The files of each launcher, from the spec alone.
std::vector<LaunchFile> slurm_files(const LaunchSpec& spec);
std::vector<LaunchFile> ssh_files(const LaunchSpec& spec, const std::string& hosts);

/// A key file to go into a Secret.
struct KeyFile {
  std::string name;  ///< In the keys' folder: `server.key`, `clients/node-7.key`.
  std::string content;
};
std::vector<LaunchFile> k8s_files(const LaunchSpec& spec, const std::vector<KeyFile>& keys);

}  // namespace forebay
