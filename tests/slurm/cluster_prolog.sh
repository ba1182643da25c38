#!/bin/bash
# Slurm's Prolog on a node: one line for an administrator. Slurm says which node in SLURMD_NODENAME.
CLUSTER=/run/cluster
exec "$CLUSTER/build/lib/rubato/rubato-slurm" prolog
