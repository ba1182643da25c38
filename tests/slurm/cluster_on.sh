#!/bin/bash
# on NODE COMMAND…: runs it as a program of that node, with its GPUs and its /run/rubato.
set -u
node=$1
shift
# shellcheck disable=SC1090
source "$CLUSTER/$node/environment"
exec nsenter --mount --target "$(<"$CLUSTER/$node/namespace")" --wd="$PWD" -- "$@"
