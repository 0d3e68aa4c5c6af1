#include <algorithm>
#include <iterator>
#include <string>

#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

namespace forebay {
namespace {

constexpr std::string_view kKustomization = R"sh(# @NAME@: forebay @COMMAND@ on Kubernetes.
#   kubectl apply -k @OUT@     starts it
#   kubectl logs -f job/@NAME@       its log; the last line of stdout is the result
#   kubectl delete -k @OUT@    stops it in order and removes it
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
@RESOURCES@)sh";

constexpr std::string_view kConfig = R"sh(# The job file.
apiVersion: v1
kind: ConfigMap
metadata:
  name: @NAME@
  labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@}
data:
  @JOB_FILE@: |2
@JOB_TEXT@)sh";

constexpr std::string_view kService =
    R"sh(# The name by which workers find the head: one address, the trainer's pod, ready or not.
apiVersion: v1
kind: Service
metadata:
  name: @NAME@
  labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@}
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector: {app.kubernetes.io/instance: @NAME@, app.kubernetes.io/component: trainer}
  ports:
    - {name: cluster, port: @PORT@, targetPort: cluster}
@METRICS_SERVICE@)sh";

constexpr std::string_view kTrainer =
    R"sh(# The trainer, and the head in it. A pod that is evicted starts again and resumes; one that refuses
# its configuration (exit status 2) does not.
apiVersion: batch/v1
kind: Job
metadata:
  name: @NAME@
  labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@, app.kubernetes.io/component: trainer}
spec:
  backoffLimit: 4
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - {type: DisruptionTarget, status: "True"}
      - action: FailJob
        onExitCodes: {containerName: trainer, operator: In, values: [2]}
  template:
    metadata:
      labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@, app.kubernetes.io/component: trainer}
@SCRAPE@    spec:
      restartPolicy: Never
      # SIGTERM saves the state; the job's run.grace, and some for the kernel.
      terminationGracePeriodSeconds: @GRACE@
      containers:
        - name: trainer
          image: @IMAGE@
          workingDir: /job
          command:
@COMMAND_WORDS@          ports:
            - {name: cluster, containerPort: @PORT@}
@METRICS_PORT@          startupProbe:
            # Indexing comes first, so it may take its time.
            tcpSocket: {port: cluster}
            periodSeconds: 5
            failureThreshold: 1440
@PROBES@          resources:
            # The job's pipeline.cpus, and its pipeline.memory, which is a hard limit.
            requests: {cpu: "@CPUS@", memory: @MEMORY@Mi@GPU_REQUEST@}
            limits: {memory: @MEMORY@Mi@GPU_REQUEST@}
          volumeMounts:
            - {name: work, mountPath: /job}
            - {name: job, mountPath: /job/@JOB_FILE@, subPath: @JOB_FILE@, readOnly: true}
@KEY_MOUNT@      volumes:
@WORK_VOLUME@        - name: job
          configMap: {name: @NAME@}
@HEAD_KEY_VOLUME@)sh";

constexpr std::string_view kWorkers =
    R"sh(# The workers: pods of which any may come and go. They end when the job does, and the first that
# ends well keeps Kubernetes from starting others. One that refuses its configuration (exit status 2)
# is not started again.
apiVersion: batch/v1
kind: Job
metadata:
  name: @NAME@-workers
  labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@, app.kubernetes.io/component: worker}
spec:
  parallelism: @WORKERS@
  backoffLimit: 1000
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - {type: DisruptionTarget, status: "True"}
      - action: FailJob
        onExitCodes: {containerName: worker, operator: In, values: [2]}
  template:
    metadata:
      labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@, app.kubernetes.io/component: worker}
@SCRAPE@    spec:
      restartPolicy: Never
      # SIGTERM gives back what it holds.
      terminationGracePeriodSeconds: @GRACE@
      # Cheap nodes will do: a worker that goes costs its work of a second or two.
      tolerations:
        - {key: cloud.google.com/gke-spot, operator: Exists}
        - {key: kubernetes.azure.com/scalesetpriority, operator: Equal, value: spot}
        - {key: spot, operator: Exists}
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels: {app.kubernetes.io/instance: @NAME@, app.kubernetes.io/component: worker}
      containers:
        - name: worker
          image: @IMAGE@
          workingDir: /job
          command:
@WORKER_WORDS@@WORKER_PORTS@          env:
            - name: POD_NAME
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
          resources:
            requests: {cpu: "@CPUS@", memory: @MEMORY@Mi}
            limits: {memory: @MEMORY@Mi}
          volumeMounts:
            - {name: work, mountPath: /job@WORK_READ_ONLY@}
@KEY_MOUNT@      volumes:
@WORK_VOLUME@@WORKER_KEY_VOLUME@)sh";

constexpr std::string_view kSecret =
    R"sh(# The keys of this cluster: the head's, and what a worker needs of them. Keep this file to yourself:
# mode 0600, and in no repository.
apiVersion: v1
kind: Secret
metadata:
  name: @NAME@-head-keys
  labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@}
type: Opaque
data:
@HEAD_KEYS@---
apiVersion: v1
kind: Secret
metadata:
  name: @NAME@-worker-keys
  labels: {app.kubernetes.io/name: forebay, app.kubernetes.io/instance: @NAME@}
type: Opaque
data:
@WORKER_KEYS@)sh";

constexpr std::string_view kScale = R"sh(#!/bin/sh
# usage: scale.sh N    N workers for @NAME@ from now on
case ${1:-} in '' | *[!0-9]*) sed -n '2s/^# //p' "$0" >&2; exit 2 ;; esac
exec kubectl patch job/@NAME@-workers --type merge --patch "{\"spec\":{\"parallelism\":$1}}"
)sh";

constexpr std::uint16_t kPort = 29400;
constexpr std::uint16_t kMetricsPort = 9464;

// Escapes a word: Kubernetes replaces $(NAME) in a command's words by a variable's value, and $$ by
// $.
std::string as_it_stands(const std::string& word) {
  std::string escaped;
  for (const char c : word) escaped.append(c == '$' ? 2 : 1, c);
  return escaped;
}

std::string quoted_list(const std::vector<std::string>& list) {
  std::string lines;
  for (const std::string& word : list) {
    lines.append(12, ' ').append("- ").append(yaml_text(word)).append("\n");
  }
  return lines;
}

std::vector<std::string> trainer_arguments(const LaunchSpec& spec, const std::string& job_file,
                                           std::uint16_t port) {
  const bool trains = spec.options.command == "train";
  std::vector<std::string> list = {"forebay", spec.options.command, "/job/" + job_file, "--json"};
  const auto set = [&](const std::string& assignment) {
    list.emplace_back("--set");
    list.push_back(assignment);
  };
  for (const std::string& assignment : spec.options.sets) set(as_it_stands(assignment));
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
  if (!spec.keys.empty()) {
    list.emplace_back("--keys");
    list.emplace_back("/keys");
  }
  if (!spec.metrics.empty()) {
    list.emplace_back("--metrics");
    list.push_back("0.0.0.0:" + std::to_string(kMetricsPort));
  }
  return list;
}

Blanks metrics_blanks(const LaunchSpec& spec) {
  if (spec.metrics.empty()) {
    return {{"METRICS_SERVICE", ""},
            {"METRICS_PORT", ""},
            {"WORKER_PORTS", ""},
            {"PROBES", ""},
            {"SCRAPE", ""}};
  }
  const std::string port = std::to_string(kMetricsPort);
  return {{"METRICS_SERVICE", "    - {name: metrics, port: " + port + ", targetPort: metrics}\n"},
          {"METRICS_PORT", "            - {name: metrics, containerPort: " + port + "}\n"},
          {"WORKER_PORTS",
           "          ports:\n            - {name: metrics, containerPort: " + port + "}\n"},
          {"PROBES",
           "          livenessProbe:\n"
           "            httpGet: {path: /metrics, port: metrics}\n"
           "            periodSeconds: 15\n"
           "            timeoutSeconds: 10\n"
           "            failureThreshold: 20\n"},
          {"SCRAPE", "      annotations: {prometheus.io/scrape: \"true\", prometheus.io/port: \"" +
                         port + "\"}\n"}};
}

Blanks volume_blanks(const LaunchSpec& spec) {
  Blanks blanks;
  const std::string& claim = spec.options.claim;
  blanks["WORK_READ_ONLY"] = claim.empty() ? "" : ", readOnly: true";
  blanks["WORK_VOLUME"] =
      claim.empty()
          ? "        # Holds .forebay and all the job writes, and is gone with the pod: name a "
            "claim\n"
            "        # (forebay launch k8s --claim NAME) that holds the job's data and "
            "checkpoints.\n"
            "        - name: work\n"
            "          emptyDir: {}\n"
          : "        - name: work\n          persistentVolumeClaim: {claimName: " +
                yaml_text(claim) + "}\n";
  return blanks;
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
  std::string lines;
  for (const KeyFile& key : keys) {
    lines.append("  ").append(entry_of(key.name)).append(": ");
    lines.append(base64(key.content)).append("\n");
  }
  return lines;
}

std::string key_volume(const std::string& secret, const std::vector<KeyFile>& keys) {
  std::string lines = "        - name: keys\n          secret:\n            secretName: " + secret +
                      "\n            defaultMode: 0400\n            items:\n";
  for (const KeyFile& key : keys) {
    lines.append("              - {key: ").append(entry_of(key.name));
    lines.append(", path: ").append(key.name).append("}\n");
  }
  return lines;
}

// Selects only the keys that a worker needs: the head's secret key stays with the head.
std::vector<KeyFile> of_a_worker(const std::vector<KeyFile>& keys) {
  std::vector<KeyFile> some;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(some), [](const KeyFile& key) {
    return key.name == "server.key" || key.name == "client.key" || key.name == "client.key_secret";
  });
  return some;
}

Blanks key_blanks(const LaunchSpec& spec, const std::vector<KeyFile>& keys) {
  if (keys.empty()) return {{"KEY_MOUNT", ""}, {"HEAD_KEY_VOLUME", ""}, {"WORKER_KEY_VOLUME", ""}};
  const std::vector<KeyFile> some = of_a_worker(keys);
  return {{"KEY_MOUNT", "            - {name: keys, mountPath: /keys, readOnly: true}\n"},
          {"HEAD_KEY_VOLUME", key_volume(spec.name + "-head-keys", keys)},
          {"WORKER_KEY_VOLUME", key_volume(spec.name + "-worker-keys", some)},
          {"HEAD_KEYS", secret_of(keys)},
          {"WORKER_KEYS", secret_of(some)}};
}

std::uint64_t mib(const LaunchSpec& spec) {
  return (spec.memory_bytes >> 20) + (spec.memory_bytes >> 24) + 64;
}

}  // namespace

std::vector<LaunchFile> k8s_files(const LaunchSpec& spec, const std::vector<KeyFile>& keys) {
  const std::uint16_t port = spec.options.port == 0 ? kPort : spec.options.port;
  const std::string job_file = "job.toml";
  const std::string& gpus = spec.options.gpus;
  std::string resources = "  - config.yaml\n  - service.yaml\n  - trainer.yaml\n";
  if (!keys.empty()) resources += "  - secret.yaml\n";
  resources += "  - workers.yaml\n";
  Blanks blanks = {{"NAME", spec.name},
                   {"COMMAND", spec.options.command},
                   {"OUT", shell_word(spec.out)},
                   {"RESOURCES", resources},
                   {"JOB_FILE", job_file},
                   {"JOB_TEXT", indented(spec.job_text, 4)},
                   {"PORT", std::to_string(port)},
                   {"GRACE", std::to_string(spec.grace_seconds + 10)},
                   {"IMAGE", yaml_text(spec.options.image)},
                   {"COMMAND_WORDS", quoted_list(trainer_arguments(spec, job_file, port))},
                   {"WORKER_WORDS", quoted_list(worker_arguments(spec, port))},
                   {"CPUS", std::to_string(spec.cpus)},
                   {"MEMORY", std::to_string(mib(spec))},
                   {"GPU_REQUEST", gpus.empty() ? "" : ", nvidia.com/gpu: \"" + gpus + "\""},
                   {"WORKERS", std::to_string(spec.options.workers)}};
  blanks.merge(key_blanks(spec, keys));
  blanks.merge(metrics_blanks(spec));
  blanks.merge(volume_blanks(spec));
  std::vector<LaunchFile> files = {{"kustomization.yaml", 0644, fill(kKustomization, blanks)},
                                   {"config.yaml", 0644, fill(kConfig, blanks)},
                                   {"service.yaml", 0644, fill(kService, blanks)},
                                   {"trainer.yaml", 0644, fill(kTrainer, blanks)},
                                   {"workers.yaml", 0644, fill(kWorkers, blanks)},
                                   {"scale.sh", 0755, fill(kScale, blanks)}};
  if (!keys.empty()) files.push_back({"secret.yaml", 0600, fill(kSecret, blanks)});
  return files;
}

}  // namespace forebay
