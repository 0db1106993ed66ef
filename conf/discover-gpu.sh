#!/usr/bin/env bash
# Tells Spark which NVIDIA GPUs this machine has, as {"name": "gpu", "addresses": ["0", "1"]}: for
# spark.{worker,executor,driver}.resource.gpu.discoveryScript. An address is the number that CUDA gives the GPU: CUDA
# counts those that a process can see from 0, and CUDA_VISIBLE_DEVICES says which those are. Where the GPUs of a host
# differ, set CUDA_DEVICE_ORDER=PCI_BUS_ID for workers and executors, so that all count in one order.
#
# Where there are none it fails with one sentence, which Spark puts into its own error.
set -euo pipefail

fail() {
  echo "discover-gpu.sh on $(uname -n): $1" >&2
  exit 1
}

# Prints as many addresses as it is told.
answer() {
  local addresses='' number
  for ((number = 0; number < $1; number++)); do addresses+="${addresses:+, }\"$number\""; done
  echo "{\"name\": \"gpu\", \"addresses\": [$addresses]}"
}

if [[ -n ${CUDA_VISIBLE_DEVICES+set} ]]; then
  IFS=', ' read -ra visible <<<"$CUDA_VISIBLE_DEVICES"
  [[ ${#visible[@]} -gt 0 ]] || fail "CUDA_VISIBLE_DEVICES is set to nothing, which hides all GPUs: unset it, or ask for no GPUs"
  answer "${#visible[@]}"
  exit
fi

# nvidia-smi may lie in neither of the usual folders in a container; the driver itself lists its GPUs, too.
smi=${NVIDIA_SMI:-$(command -v nvidia-smi || true)}
if [[ -n $smi ]]; then
  numbers=$("$smi" --query-gpu=index --format=csv,noheader 2>&1) ||
    fail "$smi failed: ${numbers//$'\n'/ }. Is NVIDIA's driver loaded (lsmod | grep nvidia), and may this user open /dev/nvidia*?"
else
  numbers=''
  for device in "${NVIDIA_DEVICES:-/dev}"/nvidia[0-9]*; do
    [[ -e $device ]] || continue
    numbers+="${device##*nvidia}"$'\n'
  done
fi

count=0
while IFS= read -r number; do
  number=${number// /}
  [[ -n $number ]] || continue
  [[ $number =~ ^[0-9]+$ ]] || fail "$smi answered \"$number\" where the number of a GPU was expected"
  count=$((count + 1))
done <<<"$numbers"
[[ $count -gt 0 ]] ||
  fail "there is no NVIDIA GPU: nvidia-smi lists none, and there is no /dev/nvidia0. Leave this node out (a node label, or workers without spark.worker.resource.gpu.amount), or ask for no GPUs"
answer "$count"
