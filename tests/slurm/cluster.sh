#!/usr/bin/env bash
# A small Slurm cluster in namespaces of its own, and one command run inside it: munged, slurmctld and some slurmd on this
# host, each node with simulated GPUs behind the NVML stand-in, a /run/rubato and a rubatod of its own. Nothing of it is seen
# outside, and nothing is left when the command ends. Needs root and Debian's Slurm (tools/install-dependencies --slurm).
#
#   tests/slurm/cluster.sh [--nodes 2] [--gpus 2] [--cpus 8] [--profile v100] [--rate 20] [--no-rubatod] [-- COMMAND…]
#
# Without a command: an interactive shell. The command finds in its environment:
#   CLUSTER            folder of everything: nodes' worlds and logs (CLUSTER/n1/…), readable by all; CLUSTER/shared may be
#                      written by all, as a home folder shared by the nodes would be
#   CLUSTER_NODES      "n1 n2"
#   PATH               with rubato, rubatod and
#                        on NODE COMMAND…       in that node's mount namespace, with its GPUs
#                        as_user COMMAND…       as an ordinary user with a home that the nodes share: as_user srun …
#                        node start|stop|kill NODE slurmd|rubatod        controller start|stop|kill
# Jobs get the GPUs of the node they run on. Exit status: that of COMMAND; 77 where such a cluster cannot be had here, with
# the reason on standard error.
set -uo pipefail

nodes=2 gpus=2 cpus=8 profile=v100 rate=20 rubatod=yes
while (($#)); do
  case $1 in
    --nodes) nodes=$2; shift 2 ;;
    --gpus) gpus=$2; shift 2 ;;
    --cpus) cpus=$2; shift 2 ;;
    --profile) profile=$2; shift 2 ;;
    --rate) rate=$2; shift 2 ;;
    --no-rubatod) rubatod=no; shift ;;
    --) shift; break ;;
    *) sed -n '2,19s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
done

cannot() {
  echo "cluster: no Slurm cluster here: $*" >&2
  exit 77
}

source=$(cd "$(dirname "$0")/../.." && pwd)
build=${RUBATO_BUILD_DIR:-$source/build/release}
tools=$source/tests/slurm
PATH=$PATH:/usr/sbin:/sbin

if [[ ${CLUSTER_INSIDE-} != yes ]]; then
  ((EUID == 0)) || cannot "only root can make the namespaces and device files; sudo $0"
  for program in slurmctld slurmd munged srun unshare nsenter ip runuser; do
    command -v "$program" >/dev/null || cannot "there is no $program (tools/install-dependencies --slurm)"
  done
  for program in bin/rubato bin/rubatod lib/rubato/rubato-slurm simgpu/libnvidia-ml.so.1; do
    [[ -e $build/$program ]] || cannot "there is no $build/$program; build the release preset, or set RUBATO_BUILD_DIR"
  done
  why=$(unshare --mount --pid --net --uts --ipc --fork --mount-proc true 2>&1) ||
    cannot "namespaces are not allowed: $why"
  # --kill-child: whatever ends this script ends every process of the cluster.
  options=(--nodes "$nodes" --gpus "$gpus" --cpus "$cpus" --profile "$profile" --rate "$rate")
  [[ $rubatod == yes ]] || options+=(--no-rubatod)
  CLUSTER_INSIDE=yes exec unshare --mount --pid --net --uts --ipc --fork --mount-proc --kill-child -- \
    "$0" "${options[@]}" -- "$@"
fi

# ---- inside: the first process of its own namespaces ----
mount --make-rprivate / || cannot "mounts cannot be made private"
# A second address: with 127.0.0.1 alone the C library takes the host for one without network (AI_ADDRCONFIG).
{ ip link set lo up && ip address add 10.0.0.1/32 dev lo; } || cannot "no loopback"
hostname cluster
mount -t tmpfs -o mode=0755 tmpfs /run || cannot "no tmpfs"
export CLUSTER=/run/cluster
mkdir -p "$CLUSTER/bin" "$CLUSTER/etc" "$CLUSTER/log" "$CLUSTER/dev" "$CLUSTER/state" "$CLUSTER/munge" /run/rubato
mkdir -m 1777 "$CLUSTER/shared"
mount -t tmpfs -o mode=0755,dev tmpfs "$CLUSTER/dev"
# Jobs run as ordinary users, who may not see the folder this was built in.
mkdir "$CLUSTER/source" "$CLUSTER/build"
{ mount --bind "$source" "$CLUSTER/source" && mount --bind "$build" "$CLUSTER/build"; } || cannot "bind mounts are refused"
printf '127.0.0.1 localhost cluster\n' >"$CLUSTER/etc/hosts"
mount --bind "$CLUSTER/etc/hosts" /etc/hosts
export PATH=$CLUSTER/bin:$CLUSTER/build/bin:$PATH

CLUSTER_NODES=$(seq -s' ' -f 'n%g' 1 "$nodes")
export CLUSTER_NODES SLURM_CONF=$CLUSTER/etc/slurm.conf
export CLUSTER_BUILD=$CLUSTER/build CLUSTER_RUBATOD=$rubatod

head -c 1024 /dev/urandom >"$CLUSTER/munge/key"
chmod 0400 "$CLUSTER/munge/key"
munged --socket "$CLUSTER/munge/socket" --key-file "$CLUSTER/munge/key" --pid-file "$CLUSTER/munge/pid" \
  --log-file "$CLUSTER/log/munged.log" --seed-file "$CLUSTER/munge/seed" || cannot "munged does not start"

# shellcheck source=tests/slurm/cluster_files.sh
source "$tools/cluster_files.sh"
write_slurm_conf
write_programs

fail() {
  echo "cluster: $*" >&2
  tail -n 5 "$CLUSTER"/log/*.log >&2
  exit 1
}
controller start || fail "slurmctld does not start"
for node in $CLUSTER_NODES; do
  make_node "$node" || fail "node $node cannot be made"
  if [[ $rubatod == yes ]]; then node start "$node" rubatod || fail "rubatod of $node does not start"; fi
  node start "$node" slurmd || fail "slurmd of $node does not start"
done
deadline=$((SECONDS + 120))
until (($(sinfo -h -N -t idle -o %N 2>/dev/null | wc -l) == nodes)); do
  ((SECONDS < deadline)) || fail "not all nodes are idle: $(sinfo -h -N -o '%N %T %E' 2>&1)"
  sleep 0.2
done

if (($#)); then "$@"; else bash; fi
status=$?
if [[ -n ${CLUSTER_KEEP_LOGS-} ]]; then
  mkdir -p "$CLUSTER_KEEP_LOGS"
  cp -r "$CLUSTER"/log/. "$CLUSTER_KEEP_LOGS/" 2>/dev/null
fi
exit "$status"
