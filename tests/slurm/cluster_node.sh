#!/bin/bash
# node start|stop|kill NODE slurmd|rubatod: start waits until it answers, stop and kill until it is gone.
set -u
do=$1 node=$2 daemon=$3
folder=$CLUSTER/$node
log=$CLUSTER/log/$daemon.$node.out

running() { [[ -s $folder/$daemon.process ]] && kill -0 "$(<"$folder/$daemon.process")" 2>/dev/null; }

start_slurmd() {
  # Not the environment of one node: jobs have that of whoever submitted them, and the task prolog's.
  env -u LD_LIBRARY_PATH nsenter --mount --target "$(<"$folder/namespace")" -- slurmd -D -N "$node" >>"$log" 2>&1 &
  echo $! >"$folder/slurmd.process"
}
start_rubatod() {
  [[ -e $folder/rubatod.toml ]] ||
    printf 'mode = "manage"\nsocket = "/run/rubato/rubatod.sock"\naudit_log = "%s"\ndisable_file = "%s/disable"\n' \
      "$CLUSTER/log/audit.$node.jsonl" "$folder" >"$folder/rubatod.toml"
  XDG_RUNTIME_DIR=/run on "$node" rubatod --config "$folder/rubatod.toml" >>"$log" 2>&1 &
  echo $! >"$folder/rubatod.process"
  for ((i = 0; i < 600; i++)); do
    running || return 1
    on "$node" test -S /run/rubato/rubatod.sock && return
    sleep 0.1
  done
  return 1
}

end_it() {
  running || return 0
  kill "-$1" "$(<"$folder/$daemon.process")"
  for ((i = 0; i < 600; i++)); do
    running || return 0
    sleep 0.1
  done
  return 1
}

case $do in
  start) "start_$daemon" ;;
  stop) end_it TERM ;;
  kill) end_it KILL ;;
esac
