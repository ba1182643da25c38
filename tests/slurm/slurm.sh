#!/usr/bin/env bash
# The tests of the Slurm integration, on a cluster of two nodes of its own (cluster.sh). As root.
#   tests/slurm/slurm.sh [TEST…]      as for python3 -m unittest: test_slurm.JobsThatEnd
# Skips with the reason (exit status 77) where there is no Slurm, or no namespaces.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${RUBATO_BUILD_DIR:-$here/../../build/release}
if [[ ! -e $build/lib/rubato/rubato_spank.so ]]; then
  echo "slurm: skipped: no $build/lib/rubato/rubato_spank.so (tools/install-dependencies --slurm, then build)" >&2
  exit 77
fi
(($#)) || set -- test_slurm
# shellcheck disable=SC2016  # expanded inside
exec "$here/cluster.sh" -- bash -c 'cd "$0" && PYTHONDONTWRITEBYTECODE=1 exec /usr/bin/python3 -m unittest -v "$@"' "$here" "$@"
