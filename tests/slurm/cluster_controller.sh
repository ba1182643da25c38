#!/bin/bash
# controller start|stop|kill: slurmctld, with the state it left; start waits until it answers.
set -u
running() { [[ -s $CLUSTER/slurmctld.process ]] && kill -0 "$(<"$CLUSTER/slurmctld.process")" 2>/dev/null; }
end_it() {
  running || return 0
  kill "-$1" "$(<"$CLUSTER/slurmctld.process")"
  for ((i = 0; i < 600; i++)); do
    running || return 0
    sleep 0.1
  done
  return 1
}
case $1 in
  start)
    slurmctld -D >>"$CLUSTER/log/slurmctld.out" 2>&1 &
    echo $! >"$CLUSTER/slurmctld.process"
    for ((i = 0; i < 600; i++)); do
      running || exit 1
      scontrol ping 2>/dev/null | grep -q ' UP' && exit 0
      sleep 0.1
    done
    exit 1
    ;;
  stop) end_it TERM ;;
  kill) end_it KILL ;;
esac
