#!/bin/bash
# as_user COMMAND…: as an ordinary user with a home that all nodes share.
set -u
home=$CLUSTER/shared/home
[[ -d $home ]] || install -d -m 0700 -o nobody -g nogroup "$home"
cd "$home" || exit
exec setpriv --reuid nobody --regid nogroup --clear-groups -- env HOME="$home" USER=nobody "$@"
