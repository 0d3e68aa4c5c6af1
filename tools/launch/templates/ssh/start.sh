#!/bin/bash
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
#@if TRAINS
[ -n "${FOREBAY_RESUME:-}" ] && trainer_command+=(--resume)  # FOREBAY_RESUME=1 start.sh
#@else
state=$run_dir/ssh.state
trainer_command+=(--state "$state")
[ -n "${FOREBAY_RESUME:-}" ] && trainer_command+=(--resume "$state")  # FOREBAY_RESUME=1 start.sh
#@end

echo "$trainer $$" >"$here/running"
# However the script ends from here on, it leaves nothing on the hosts.
clean() {
  local host
  for host in $(printf '%s\n' "$trainer" "${places[@]}" | sort -u); do
    on "$host" bash -c 'rm -rf "$1"; rmdir "${1%/*}" 2>/dev/null; true' clean "$remote" </dev/null
  done
  rm -f "$here/running" "$here"/worker-*.host
  close_connections
}
trap clean EXIT
# A broken connection ends no process: the processes go on, and the script asks again.
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
# The workers end with the job; stop the workers that do not.
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
