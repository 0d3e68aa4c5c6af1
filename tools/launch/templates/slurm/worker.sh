#!/bin/bash
# One worker of @NAME@: waits until the trainer has written its address, then joins it. The same file
# leads to a trainer that comes back at another address.
set -u
started=@OUT@/started
address_file=@RUN_DIR@/address
patience=@PATIENCE@  # seconds

until [ "$address_file" -nt "$started" ] && [ -s "$started" ]; do
  [ "$SECONDS" -lt "$patience" ] || { echo "no trainer wrote $address_file in $patience s" >&2; exit 1; }
  sleep 1
done
exec @FOREBAY@ worker --join @HEAD@ --cpus @CPUS@ --memory @MEMORY_BYTES@@KEYS@@METRICS@ \
  --name "$(hostname)-${SLURM_JOB_ID:-0}-${SLURM_PROCID:-0}"
