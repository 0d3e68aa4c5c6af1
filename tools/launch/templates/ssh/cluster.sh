# What start.sh, stop.sh and scale.sh share; read by them, not run.
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
