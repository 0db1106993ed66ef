#!/usr/bin/env bash
# Tells Spark which GPUs this host has, by the numbers that CUDA gives them, for
#   spark.worker.resource.gpu.discoveryScript      standalone masters
#   spark.executor.resource.gpu.discoveryScript    YARN, Kubernetes
# Honours CUDA_VISIBLE_DEVICES, which CUDA counts anew from 0. Where the GPUs of a host differ, set
# CUDA_DEVICE_ORDER=PCI_BUS_ID for workers and executors, so that all count in one order.
set -euo pipefail
if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then
  count=$(tr ',' '\n' <<< "$CUDA_VISIBLE_DEVICES" | grep -c . || true)
elif command -v nvidia-smi > /dev/null; then
  count=$(nvidia-smi --list-gpus | grep -c '^GPU ' || true)
else
  echo "discover-gpu.sh: no nvidia-smi on the PATH of $(hostname), so its GPUs cannot be counted" >&2
  exit 1
fi
addresses=$(seq -s, 0 $((count - 1)) | sed 's/[0-9][0-9]*/"&"/g')
echo "{\"name\": \"gpu\", \"addresses\": [$addresses]}"
