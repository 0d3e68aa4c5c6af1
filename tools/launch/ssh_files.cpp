#include <string>

#include "tools/launch/fill.h"
#include "tools/launch/launch_spec.h"

namespace forebay {
namespace {

constexpr std::string_view kHosts =
    R"sh(# Where @NAME@ runs. A line a host: its name as ssh knows it or user@host:port, how many processes it
# takes, and whether they are workers or the trainer (one line). Paths of the job are the same on every host.
# An ssh_config beside this file is used instead of your own.
localhost slots=1 role=trainer
# node-1 slots=2 role=worker
)sh";

constexpr std::string_view kCluster =
    R"sh(# What start.sh, stop.sh and scale.sh share; read by them, not run.
name=@NAME@
here=@OUT@
run_dir=@RUN_DIR@
logs=$run_dir/logs
address_file=$run_dir/address
keys=@KEYS@
grace=@GRACE@  # seconds from SIGTERM to SIGKILL
remote=${FOREBAY_REMOTE_DIR:-.cache/$name}  # on each host: pids, logs, keys; removed at the end

trainer_command=(@FOREBAY@ @COMMAND@ @JOB@ --json@SETS@ --set cluster.listen=@LISTEN@)
worker_command=(@FOREBAY@ worker --cpus @CPUS@ --memory @MEMORY_BYTES@@METRICS@)
head=@HEAD@  # of its own, which workers join; empty: the trainer's

# One connection a host, shared by all that a script asks of it.
sockets=$(mktemp -d /tmp/forebay-ssh-XXXXXX) || exit 1
ssh_options=(-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o LogLevel=ERROR
  -o ControlMaster=auto -o ControlPersist=30 -o "ControlPath=$sockets/%C")
[ -f "$here/ssh_config" ] && ssh_options=(-F "$here/ssh_config" "${ssh_options[@]}")

# on HOST WORD...: runs these words there. Out of the terminal's reach, so that Ctrl-C is start.sh's to handle.
on() {
  local host=$1
  shift
  setsid --wait ssh "${ssh_options[@]}" -- "$host" "$(printf '%q ' "$@")"
}

# task HOST VERB TASK...: what task.sh does, there.
task() { on "$1" bash "$remote/task.sh" "${@:2}" </dev/null; }

# patiently FILE WORD...: runs these words, their stdout in FILE; a signal's trap runs meanwhile.
patiently() {
  local file=$1 child
  shift
  "$@" >"$file" &
  child=$!
  while kill -0 "$child" 2>/dev/null; do wait "$child"; done
  wait "$child"
}

close_connections() {
  local host
  for host in $({ hosts_of trainer; hosts_of worker; } 2>/dev/null | sort -u); do
    ssh "${ssh_options[@]}" -O exit -- "$host" 2>/dev/null
  done
  rm -rf "$sockets"
}

# hosts_of ROLE: the host names of that role, one a slot.
hosts_of() {
  local host words word slots role
  while read -r host words; do
    case $host in '' | '#'*) continue ;; esac
    slots=1 role=worker
    for word in $words; do
      case $word in
        slots=*) slots=${word#slots=} ;;
        role=*) role=${word#role=} ;;
        *) echo "$name: hosts: $host: $word is neither slots=N nor role=worker|trainer" >&2; return 1 ;;
      esac
    done
    # A port is ssh's to read in an address with a scheme; a bare IPv6 address has none.
    case $host in
      ssh://*) ;;
      *\]:*) host=ssh://$host ;;
      *:*:*) ;;
      *:*) host=ssh://$host ;;
    esac
    [ "$role" = "$1" ] && for ((; slots > 0; --slots)); do echo "$host"; done
  done <"$here/hosts"
  return 0
}

# prepare HOST: a folder of its own there, task.sh, and a worker's keys for no one else to read.
prepare() {
  on "$1" bash -c 'umask 077 && mkdir -p "$1" && cat >"$1/task.sh"' prepare "$remote" <"$here/task.sh" || return 1
  [ -z "$keys" ] || tar -C "$keys" -cf - server.key client.key client.key_secret |
    on "$1" bash -c 'umask 077 && mkdir -p "$1/keys" && tar -C "$1/keys" --no-same-owner -xf - && chmod -R go= "$1/keys"' keys "$remote"
}

# fetch HOST TASK: its log, into the job's folder.
fetch() { task "$1" log "$2" >"$logs/ssh-$2.log" 2>/dev/null; }

# start_worker NUMBER HOST ADDRESS
start_worker() {
  local key_words=()
  [ -z "$keys" ] || key_words=(--keys keys)
  task "$2" start "worker-$1" "${worker_command[@]}" --join "${head:-$3}" --name "${2##*[@/]}-$1" ${key_words[@]+"${key_words[@]}"}
}
)sh";

constexpr std::string_view kTask = R"sh(#!/bin/bash
# One process of a job on this host, in the folder of this script.
# usage: task.sh start TASK WORD...   starts it, free of this connection
#        task.sh wait TASK            waits for its end; prints its exit status
#        task.sh alive TASK           is it running?
#        task.sh stop TASK SECONDS    SIGTERM, and SIGKILL after SECONDS; none but its own process
#        task.sh out|log TASK         what it wrote to stdout; to stderr
#        task.sh address FILE         waits for the trainer's address
set -u
umask 077
cd "$(dirname "$0")" || exit 1
verb=$1 task=$2
shift 2

# When process $1 began: with its number, a name that no later process bears.
began() { local stat; stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1; set -- ${stat##*) }; echo "${20}"; }

is_alive() {
  local pid since
  read -r pid since <"$task.pid" 2>/dev/null && [ "$(began "$pid")" = "$since" ] && [ ! -e "$task.status" ]
}

case $verb in
  start)
    rm -f "$task.status" "$task.pid"
    setsid --fork bash ./task.sh run "$task" "$@" </dev/null >/dev/null 2>&1
    until [ -s "$task.pid" ]; do sleep 0.1; done
    ;;
  run)
    "$@" >"$task.out" 2>"$task.err" &
    echo "$! $(began "$!")" >"$task.new" && mv "$task.new" "$task.pid"
    wait "$!"
    echo "$?" >"$task.new" && mv "$task.new" "$task.status"
    ;;
  wait)
    while is_alive; do sleep 0.2; done
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e "$task.status" ] && break; sleep 0.2; done
    cat "$task.status" 2>/dev/null || echo 137
    ;;
  alive) is_alive ;;
  stop)
    is_alive || exit 0
    read -r pid since <"$task.pid"
    kill -TERM "$pid"
    for ((left = $1 * 5; left > 0; --left)); do is_alive || exit 0; sleep 0.2; done
    [ "$(began "$pid")" = "$since" ] && kill -KILL "$pid"
    ;;
  out) cat "$task.out" ;;
  log) cat "$task.err" ;;
  address)
    file=$task task=trainer
    until [ "$file" -nt trainer.pid ]; do is_alive || exit 1; sleep 0.2; done
    cat "$file"
    ;;
esac
)sh";

constexpr std::string_view kStart = R"sh(#!/bin/bash
# @NAME@: forebay @COMMAND@ over ssh, on the hosts of the file hosts.
# usage: start.sh [WORKERS]    default: @WORKERS@. Ends as the trainer does, with its exit status and its stdout;
#                              SIGINT and SIGTERM stop it in order.
set -u
. @OUT@/cluster.sh
workers=${1:-@WORKERS@}
mkdir -p "$logs"
trap close_connections EXIT
fail() { echo "$name: $1" >&2; exit 2; }

trainer=$(hosts_of trainer) && mapfile -t places < <(hosts_of worker) || exit 2
[ "$(wc -w <<<"$trainer")" -eq 1 ] || fail "$here/hosts must name one slot with role=trainer"
[ "$workers" -le "${#places[@]}" ] || fail "$here/hosts has ${#places[@]} slots with role=worker, $workers are wanted"
[ -e "$here/running" ] && fail "$here/running is there: it runs already; $here/stop.sh stops it"

for host in $(printf '%s\n' "$trainer" "${places[@]:0:$workers}" | sort -u); do
  prepare "$host" || fail "$host cannot be reached by ssh, or takes no files in $remote"
done
@RESUME@
echo "$trainer $$" >"$here/running"
# Whatever happens from here on, nothing stays on the hosts.
clean() {
  local host
  for host in $(printf '%s\n' "$trainer" "${places[@]}" | sort -u); do
    on "$host" bash -c 'rm -rf "$1"; rmdir "${1%/*}" 2>/dev/null; true' clean "$remote" </dev/null
  done
  rm -f "$here/running" "$here"/worker-*.host
  close_connections
}
trap clean EXIT
# A connection that breaks ends nothing: the processes live on without it, and are asked again.
trap 'task "$trainer" stop trainer "$grace" &' INT TERM HUP

task "$trainer" start trainer "${trainer_command[@]}" || exit 1
if [ "$workers" -gt 0 ]; then
  if patiently "$sockets/address" task "$trainer" address "$address_file"; then
    address=$(cat "$sockets/address")
    for ((i = 0; i < workers; ++i)); do
      start_worker "$((i + 1))" "${places[$i]}" "$address" && echo "${places[$i]}" >"$here/worker-$((i + 1)).host"
    done
  fi
fi

until patiently "$sockets/status" task "$trainer" wait trainer; do sleep 1; done
status=$(cat "$sockets/status")
fetch "$trainer" trainer
# The workers end with the job; those that do not are told to.
for file in "$here"/worker-*.host; do
  [ -e "$file" ] || continue
  host=$(cat "$file") number=$(basename "$file" .host)
  patience=$grace
  [ "$status" -eq 0 ] || patience=0
  while [ "$patience" -gt 0 ] && task "$host" alive "$number"; do sleep 1; patience=$((patience - 1)); done
  task "$host" stop "$number" "$grace"
  fetch "$host" "$number"
done
cat "$logs/ssh-trainer.log" >&2
task "$trainer" out trainer | tee "$logs/ssh-trainer.out"
exit "$status"
)sh";

constexpr std::string_view kStop = R"sh(#!/bin/bash
# usage: stop.sh    stops @NAME@ in order: the trainer saves its state, start.sh ends after it
set -u
. @OUT@/cluster.sh
trap close_connections EXIT
[ -e "$here/running" ] || { echo "$name: does not run" >&2; exit 0; }
read -r trainer _ <"$here/running"
task "$trainer" stop trainer "$grace"
)sh";

constexpr std::string_view kScale = R"sh(#!/bin/bash
# usage: scale.sh N    N workers for @NAME@ from now on, on the slots of the file hosts
# Those with the highest numbers are stopped first; they give back what they hold.
set -u
case ${1:-} in '' | *[!0-9]*) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;; esac
. @OUT@/cluster.sh
trap close_connections EXIT
[ -e "$here/running" ] || { echo "$name: does not run" >&2; exit 1; }
mapfile -t places < <(hosts_of worker)
[ "$1" -le "${#places[@]}" ] || { echo "$name: $here/hosts has ${#places[@]} slots with role=worker" >&2; exit 1; }
for ((i = 1; i <= ${#places[@]}; ++i)); do
  host=${places[$((i - 1))]}
  runs=no
  [ -e "$here/worker-$i.host" ] && task "$host" alive "worker-$i" && runs=yes
  if [ "$i" -le "$1" ] && [ "$runs" = no ]; then
    read -r trainer _ <"$here/running"
    address=$(task "$trainer" address "$address_file") || exit 1
    prepare "$host" && start_worker "$i" "$host" "$address" && echo "$host" >"$here/worker-$i.host" || exit 1
  elif [ "$i" -gt "$1" ] && [ "$runs" = yes ]; then
    task "$host" stop "worker-$i" "$grace"
    fetch "$host" "worker-$i"
    rm -f "$here/worker-$i.host"
  fi
done
)sh";

// `train` refuses a first start that finds checkpoints and says what to do; FOREBAY_RESUME does it.
constexpr std::string_view kTrainResume =
    "[ -n \"${FOREBAY_RESUME:-}\" ] && trainer_command+=(--resume)  # FOREBAY_RESUME=1 start.sh\n";

constexpr std::string_view kIngestResume =
    "state=$run_dir/ssh.state\n"
    "trainer_command+=(--state \"$state\")\n"
    "[ -n \"${FOREBAY_RESUME:-}\" ] && trainer_command+=(--resume \"$state\")  # FOREBAY_RESUME=1 "
    "start.sh\n";

}  // namespace

std::vector<LaunchFile> ssh_files(const LaunchSpec& spec, const std::string& hosts) {
  std::string sets;
  for (const std::string& set : spec.options.sets) sets.append(" --set ").append(shell_word(set));
  const bool trains = spec.options.command == "train";
  const Blanks blanks = {{"NAME", spec.name},
                         {"COMMAND", spec.options.command},
                         {"WORKERS", std::to_string(spec.options.workers)},
                         {"CPUS", std::to_string(spec.cpus)},
                         {"MEMORY_BYTES", std::to_string(spec.memory_bytes)},
                         {"OUT", shell_word(spec.out)},
                         {"RUN_DIR", shell_word(spec.run_dir)},
                         {"FOREBAY", shell_word(spec.forebay)},
                         {"JOB", shell_word(spec.job_file)},
                         {"LISTEN", shell_word(spec.listen)},
                         {"SETS", sets},
                         {"METRICS", worker_metrics(spec)},
                         {"HEAD", spec.head.empty() ? "" : shell_word(spec.head)},
                         {"KEYS", spec.keys.empty() ? "" : shell_word(spec.keys)},
                         {"GRACE", std::to_string(spec.grace_seconds + 5)},
                         {"RESUME", std::string(trains ? kTrainResume : kIngestResume)}};
  return {{.name = "hosts",
           .content = hosts.empty() ? fill(kHosts, blanks) : hosts,
           .users = hosts.empty()},
          {"cluster.sh", 0644, fill(kCluster, blanks)},
          {"task.sh", 0755, std::string(kTask)},
          {"start.sh", 0755, fill(kStart, blanks)},
          {"stop.sh", 0755, fill(kStop, blanks)},
          {"scale.sh", 0755, fill(kScale, blanks)}};
}

}  // namespace forebay
