#!/bin/bash
# Slurm's Epilog on a node. A test has it killed before it has done anything, as a time limit or the kernel might.
CLUSTER=/run/cluster
[[ ! -e $CLUSTER/$SLURMD_NODENAME/kill_epilog ]] || kill -9 $$
# Where no rubatod runs the driver itself is needed, which here is the stand-in.
# shellcheck disable=SC1090
source "$CLUSTER/$SLURMD_NODENAME/environment"
export XDG_RUNTIME_DIR=/run
exec "$CLUSTER/build/lib/rubato/rubato-slurm" epilog --energy-file "$CLUSTER/log/energy.$SLURMD_NODENAME.jsonl"
