#!/bin/bash
# One process of a job on this host, in the folder of this script.
# usage: task.sh start TASK WORD...   starts it, free of this connection
#        task.sh wait TASK            waits for its end; prints its exit status
#        task.sh alive TASK           is it running?
#        task.sh stop TASK SECONDS    SIGTERM, and SIGKILL after SECONDS, to its own process alone
#        task.sh out|log TASK         prints its stdout; its stderr
#        task.sh address FILE         waits for the trainer's address
set -u
umask 077
cd "$(dirname "$0")" || exit 1
verb=$1 task=$2
shift 2

# Prints when process $1 began: a later process may have its number, but not that time, too.
# shellcheck disable=SC2086  # fields
began() { local stat; stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1; set -- ${stat##*) }; echo "${20}"; }

is_alive() {
  local pid since
  read -r pid since <"$task.pid" 2>/dev/null && [ "$(began "$pid")" = "$since" ] && [ ! -e "$task.status" ]
}

case $verb in
  start)
    rm -f "$task.status" "$task.pid"
    setsid --fork bash ./task.sh run "$task" "$@" </dev/null >/dev/null 2>&1
    for ((left = 100; left > 0; --left)); do [ -s "$task.pid" ] && exit 0; sleep 0.1; done
    echo "$task did not start within 10 s; look whether $PWD is full" >&2
    bash ./task.sh stop "$task" 0  # it may have begun just now
    exit 1
    ;;
  run)
    : >"$task.begun"
    "$@" >"$task.out" 2>"$task.err" &
    # Without its number nobody could stop it.
    { echo "$! $(began "$!")" >"$task.new" && mv "$task.new" "$task.pid"; } || kill -KILL "$!"
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
    # A trainer may write its address before its number is in trainer.pid.
    file=$task task=trainer
    while [ trainer.begun -nt "$file" ]; do is_alive || exit 1; sleep 0.2; done
    cat "$file"
    ;;
esac
