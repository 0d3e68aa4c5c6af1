# Read by start.sh, stop.sh and scale.sh; not run by itself.
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
head=@HEAD@  # a separate head that workers join; empty: the trainer's

# One connection per host, shared by all commands of a script.
sockets=$(mktemp -d /tmp/forebay-ssh-XXXXXX) || exit 1
ssh_options=(-o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=15 -o LogLevel=ERROR
  -o ControlMaster=auto -o ControlPersist=30 -o "ControlPath=$sockets/%C")
[ -f "$here/ssh_config" ] && ssh_options=(-F "$here/ssh_config" "${ssh_options[@]}")

# on HOST WORD...: runs these words there, away from the terminal, so that only start.sh gets Ctrl-C.
on() {
  local host=$1
  shift
  setsid --wait ssh "${ssh_options[@]}" -- "$host" "$(printf '%q ' "$@")"
}

# task HOST VERB TASK...: runs task.sh there.
task() { on "$1" bash "$remote/task.sh" "${@:2}" </dev/null; }

# patiently FILE WORD...: runs these words with stdout to FILE; traps of signals run meanwhile.
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
    # ssh reads a port only from an address with a scheme; a bare IPv6 address has no port.
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

# prepare HOST: makes a folder there with task.sh and a worker's keys, for this user alone.
prepare() {
  on "$1" bash -c 'umask 077 && mkdir -p "$1" && cat >"$1/task.sh"' prepare "$remote" <"$here/task.sh" || return 1
  [ -z "$keys" ] || tar -C "$keys" -cf - server.key client.key client.key_secret |
    on "$1" bash -c 'umask 077 && mkdir -p "$1/keys" && tar -C "$1/keys" --no-same-owner -xf - && chmod -R go= "$1/keys"' keys "$remote"
}

# fetch HOST TASK: copies the task's log into the job's folder.
fetch() { task "$1" log "$2" >"$logs/ssh-$2.log" 2>/dev/null; }

# start_worker NUMBER HOST ADDRESS
start_worker() {
  local key_words=()
  [ -z "$keys" ] || key_words=(--keys keys)
  task "$2" start "worker-$1" "${worker_command[@]}" --join "${head:-$3}" --name "${2##*[@/]}-$1" ${key_words[@]+"${key_words[@]}"}
}
