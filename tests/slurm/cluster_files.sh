# shellcheck shell=bash
# What cluster.sh writes for the cluster: its configuration, its nodes and the programs `on`, `node` and `controller`.
# shellcheck disable=SC2154  # nodes, gpus, cpus, profile, rate and tools are set by cluster.sh

write_slurm_conf() {
  local conf=$SLURM_CONF n
  # proctrack/linuxproc, task/none: a cluster without cgroups, as this host may have none to give.
  cat >"$conf" <<CONF
ClusterName=rubato
SlurmctldHost=cluster(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$CLUSTER/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$CLUSTER/state
SlurmctldPidFile=$CLUSTER/slurmctld.pid
SlurmctldLogFile=$CLUSTER/log/slurmctld.log
SlurmdSpoolDir=$CLUSTER/%n/spool
SlurmdPidFile=$CLUSTER/%n/slurmd.pid
SlurmdLogFile=$CLUSTER/log/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
MinJobAge=300
KillWait=3
UnkillableStepTimeout=30
InactiveLimit=0
SlurmdTimeout=30
BatchStartTimeout=60
JobRequeue=1
GresTypes=gpu
TaskProlog=$CLUSTER/bin/task_prolog
Prolog=$CLUSTER/bin/prolog
Epilog=$CLUSTER/bin/epilog
PrologFlags=Alloc
CONF
  {
    # Where libslurm-dev was there to build it.
    if [[ -e $CLUSTER/build/lib/rubato/rubato_spank.so ]]; then
      echo "optional $CLUSTER/build/lib/rubato/rubato_spank.so" >"$CLUSTER/etc/plugstack.conf"
      echo "PlugStackConfig=$CLUSTER/etc/plugstack.conf"
    fi
    for ((n = 1; n <= nodes; n++)); do
      echo "NodeName=n$n NodeHostname=cluster NodeAddr=127.0.0.1 Port=$((17000 + n)) CPUs=$cpus Gres=gpu:$gpus State=UNKNOWN"
    done
    echo "PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP"
  } >>"$conf"
  for ((n = 1; n <= nodes; n++)); do
    echo "NodeName=n$n Name=gpu File=$CLUSTER/dev/n$n/nvidia[0-$((gpus - 1))]"
  done >"$CLUSTER/etc/gres.conf"
}

# The environment in which programs of a node find that node's GPUs; printed as export lines.
node_environment() {
  local profiles=$profile i
  for ((i = 1; i < gpus; i++)); do profiles+=,$profile; done
  cat <<ENVIRONMENT
export RUBATO_SIM_WORLD=$CLUSTER/$1/world
export RUBATO_SIM_PROFILES=$profiles
export RUBATO_SIM_SCENARIO=$CLUSTER/$1/scenario.json
export LD_LIBRARY_PATH=$CLUSTER/build/simgpu
ENVIRONMENT
}

write_programs() {
  local program
  # shellcheck disable=SC2016  # expanded when it runs
  {
    printf '#!/bin/sh\n# Slurm sets what is printed here for the task.\n'
    printf 'cat %s/$SLURMD_NODENAME/environment\n' "$CLUSTER"
  } >"$CLUSTER/bin/task_prolog"
  for program in on as_user node controller prolog epilog; do cp "$tools/cluster_$program.sh" "$CLUSTER/bin/$program"; done
  chmod 0755 "$CLUSTER"/bin/*
}

# Its folder, its device files, its world of GPUs, and a process that keeps its mount namespace.
make_node() {
  local node=$1 i folder=$CLUSTER/$1
  mkdir -p "$folder/spool" "$CLUSTER/dev/$node"
  for ((i = 0; i < gpus; i++)); do
    # Slurm counts a GPU only where its file is a device; which one is not looked at.
    mknod -m 0666 "$CLUSTER/dev/$node/nvidia$i" c 1 3 || return 1
  done
  echo "{\"rate\": $rate, \"found\": {\"power_limit_w\": 200}}" >"$folder/scenario.json"
  node_environment "$node" >"$folder/environment"
  unshare --mount -- sh -c "mount -t tmpfs -o mode=0755 tmpfs /run/rubato && echo ready >$folder/ready && exec sleep infinity" &
  echo $! >"$folder/namespace"
  until [[ -s $folder/ready ]]; do
    kill -0 "$!" 2>/dev/null || return 1
    sleep 0.05
  done
  # Made by the first who looks; as of a real driver everybody may look, and who may set is for the driver to say.
  on "$node" rubato devices --json >"$folder/devices.json" || return 1
  chmod 0666 "$folder/world"
}
