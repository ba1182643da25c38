#!/usr/bin/env bash
# The tests of the Slurm integration, on clusters of two nodes of their own (cluster.sh). As root.
#   tests/slurm/slurm.sh [TEST…]      as for python3 -m unittest: test_slurm.JobsThatEnd
# Skips with the reason (exit status 77) where there is no Slurm, or no namespaces.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${RUBATO_BUILD_DIR:-$here/../../build/release}
if [[ ! -e $build/lib/rubato/rubato_spank.so ]]; then
  echo "slurm: skipped: no $build/lib/rubato/rubato_spank.so (tools/install-dependencies --slurm, then build)" >&2
  exit 77
fi
run() {
  local gpus=$1
  shift
  # shellcheck disable=SC2016  # expanded inside
  "$here/cluster.sh" --gpus "$gpus" -- \
    bash -c 'cd "$0" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 -m unittest -v "$@"' "$here" "$@"
}
if (($#)); then
  # Trainings of many ranks want nodes of four GPUs.
  case $1 in test_slurm_agents*) run 4 "$@" ;; *) run 2 "$@" ;; esac
else
  run 2 test_slurm && run 4 test_slurm_agents
fi
