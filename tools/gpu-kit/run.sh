#!/usr/bin/env bash
# Runs the examples and the check by spark-submit on this GPU host, for each provider; see README.md.
#
#   run.sh KIT_DIR OUT_DIR [PROVIDER...]      default: nvshmem nccl auto; nvshmem and auto where PEs share a GPU
#   run.sh KIT_DIR OUT_DIR decode             the figures of DecodeStep
#   run.sh KIT_DIR OUT_DIR product            those of FusedProduct; beside PyTorch's where there is a GPU a PE, and torch
#
# SPARKGAP_PES (2), SPARKGAP_GPUS (how many to use: all), SPARKGAP_SECONDS (450: no application is started after so many),
# SPARKGAP_NVSHMEM, SPARKGAP_NCCL and SPARKGAP_CUBLAS (paths of the libraries) change what it does. Exit status 0 if all was
# good.
set -uo pipefail
kit=$(cd "${1:?usage: run.sh KIT_DIR OUT_DIR [PROVIDER...]}" && pwd)
out=$(mkdir -p "${2:?usage: run.sh KIT_DIR OUT_DIR [PROVIDER...]}" && cd "$2" && pwd)
shift 2
started=$SECONDS
deadline=$((started + ${SPARKGAP_SECONDS:-450}))
pes=${SPARKGAP_PES:-2}
work=$(mktemp -d)  # nothing of it is left
logs=$work/logs
mkdir -p "$logs" "$work/local"

# Before anything else: multicast can put GPUs out of service that others share.
export NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1
export CUDA_DEVICE_ORDER=PCI_BUS_ID

mps=
finish() {
  if [ -n "$mps" ]; then
    echo quit | timeout 10 nvidia-cuda-mps-control > /dev/null 2>&1
  fi
  collect
  cat "$out/summary.txt"
  rm -rf "$work"
}
trap finish EXIT

collect() {  # all that is known so far into OUT_DIR: whoever stops this script gets that
  # local-cluster keeps what executors print under SPARK_HOME/work.
  (cd "$work/kit/spark/work" 2> /dev/null && find . \( -name stderr -o -name stdout \) -exec cp --parents {} "$logs" \;)
  tar czf "$out/logs.tar.gz" -C "$work" logs
  merge
}

merge() {  # the applications' results into results.json and summary.txt
  python3 - "$logs" "$out" "$kit" << 'PYTHON'
import datetime, glob, json, os, subprocess, sys
logs, out, kit = sys.argv[1:]
def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip().splitlines()
    except Exception as error:
        return [str(error)]
with open(os.path.join(kit, "commit")) as file:
    commit = file.read().strip()
report = {"name": "gpu-spark", "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
          "commit": commit, "cores": os.cpu_count(),
          "gpus": said("nvidia-smi", "--query-gpu=name,uuid,pci.bus_id,driver_version", "--format=csv,noheader"),
          "applications": []}
lines = []
for end in sorted(glob.glob(os.path.join(logs, "*.exit"))):
    name = os.path.basename(end)[:-len(".exit")]
    with open(end) as file:
        status = file.read().strip()
    application = {"name": name, "exit": status}
    if os.path.exists(os.path.join(logs, name + ".json")):
        with open(os.path.join(logs, name + ".json")) as file:
            application.update(json.load(file))
    elif os.path.exists(os.path.join(logs, name + ".log")):
        with open(os.path.join(logs, name + ".log"), errors="replace") as file:
            application["end of its output"] = file.read().splitlines()[-6:]
    lines.append(f"{name}: exit {status}" + (" (ran out of time)" if status in ("124", "137") else ""))
    for step in application.get("steps", []):
        if "ok" not in step:
            lines.append(f"  {step['step']}: did not end")
            continue
        result = json.dumps(step.get("result", step.get("error", "")))
        lines.append(f"  {step['step']}: {'good' if step['ok'] else 'FAILED'} in {step['seconds']:.1f} s: {result[:600]}")
    lines += ["  " + line[:200] for line in application.get("end of its output", [])]
    report["applications"].append(application)
with open(os.path.join(out, "results.json"), "w") as file:
    json.dump(report, file, indent=1)
    file.write("\n")
with open(os.path.join(out, "summary.txt"), "w") as file:
    file.write("\n".join(lines) + "\n")
PYTHON
}

site=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2> /dev/null || true)
nvshmem=${SPARKGAP_NVSHMEM:-$(ls "$site"/nvidia/nvshmem/lib/libnvshmem_host.so.3 2> /dev/null || true)}
nccl=${SPARKGAP_NCCL:-$(ls "$site"/nvidia/nccl/lib/libnccl.so.2 2> /dev/null || true)}
cublas=${SPARKGAP_CUBLAS:-$(ls "$site"/nvidia/*/lib/libcublas.so.1[23] 2> /dev/null | head -n 1)}
present=$(nvidia-smi --list-gpus | grep -c '^GPU ' || true)
gpus=${SPARKGAP_GPUS:-$present}
echo "$present GPUs, $gpus of them used, $pes PEs; NVSHMEM ${nvshmem:-not found here}, NCCL ${nccl:-not found here}"
if [ "$gpus" -lt 1 ]; then
  echo "run.sh: there is no GPU here" >&2
  exit 1
fi

# An executor a PE. Spark gives each executor of a worker a GPU of its own; PEs that share one need a worker each.
shared=false
master="local-cluster[1,$pes,$((pes * 1536))]"
workers_gpus=$pes
if [ "$gpus" -lt "$pes" ]; then
  shared=true
  master="local-cluster[$pes,1,1536]"
  workers_gpus=1
  export CUDA_MPS_PIPE_DIRECTORY=$work/mps CUDA_MPS_LOG_DIRECTORY=$logs/mps
  mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
  if timeout 20 nvidia-cuda-mps-control -d; then mps=started; fi
  echo "PEs share a GPU; MPS: ${mps:-could not be started}"
fi
providers=("$@")
if [ "${#providers[@]}" -eq 0 ]; then
  providers=(nvshmem nccl auto)
  if [ "$shared" = true ]; then providers=(nvshmem auto); fi  # NCCL takes one PE a GPU
fi

mkdir "$work/kit"
tar xJf "$kit/spark-kit.tar.xz" -C "$work/kit" || exit 1
cp "$kit/discover-gpu.sh" "$work/discover-gpu.sh"
chmod +x "$work/discover-gpu.sh"
mkdir -p "$work/kit/spark/conf"
cat > "$work/kit/spark/conf/log4j2.properties" << 'LOG4J'
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
logger.sparkgap.name = io.sparkgap
logger.sparkgap.level = info
LOG4J

good=true
submit() {  # NAME SECONDS CLASS CONF... -- ARGUMENTS...
  local name=$1 seconds=$2 class=$3
  shift 3
  local settings=()
  while [ "$1" != -- ]; do settings+=(--conf "$1"); shift; done
  shift
  local left=$((deadline - SECONDS))
  if [ "$left" -lt 20 ]; then
    echo "$name: not started, the time is up"
    echo "not started" > "$logs/$name.exit"
    good=false
    return
  fi
  if [ "$seconds" -gt "$left" ]; then seconds=$left; fi
  echo "== $name, at most $seconds s"
  if [ -n "$nvshmem" ]; then settings+=(--conf "spark.sparkgap.nvshmem.library=$nvshmem"); fi
  if [ -n "$nccl" ]; then settings+=(--conf "spark.sparkgap.nccl.library=$nccl"); fi
  timeout --kill-after=10 "$seconds" \
    bash "$kit/spark-submit" "$work/kit" --master "$master" --class "$class" \
    --jars "$kit/sparkgap-spark-plugin.jar,$kit/sparkgap-examples.jar" \
    --conf spark.plugins=io.sparkgap.SparkgapPlugin \
    --conf spark.executor.memory=1g --conf spark.executor.cores=1 --conf "spark.default.parallelism=$pes" \
    --conf "spark.worker.resource.gpu.amount=$workers_gpus" \
    --conf "spark.worker.resource.gpu.discoveryScript=$work/discover-gpu.sh" \
    --conf spark.executor.resource.gpu.amount=1 --conf spark.task.resource.gpu.amount=1 \
    --conf "spark.sparkgap.device.shared=$shared" --conf spark.sparkgap.peer.timeout=15s \
    --conf spark.ui.port=0 --conf spark.ui.showConsoleProgress=false \
    --conf "spark.local.dir=$work/local" --conf spark.driver.host=127.0.0.1 \
    "${settings[@]}" "$kit/sparkgap-check.jar" "$@" > "$logs/$name.log" 2>&1 < /dev/null
  local status=$?
  echo "$status" > "$logs/$name.exit"
  echo "$name ended with $status after $((SECONDS - started)) s in all"
  if [ "$status" -ne 0 ]; then
    good=false
    tail -n 15 "$logs/$name.log"
  fi
  collect
}

check=io.sparkgap.examples.GpuCheck
beside_nccl=nccl
if [ "$shared" = true ]; then beside_nccl=nvshmem; fi
for provider in "${providers[@]}"; do
  case $provider in
    auto)  # The examples' own main methods, by configuration alone.
      for example in HelloPut TrainDigits BatchPipeline; do
        submit "auto-$example" 90 "io.sparkgap.examples.$example" --
      done
      ;;
    decode)  # Its figures, beside NCCL where there is a GPU a PE.
      submit decode 150 io.sparkgap.examples.DecodeStep "spark.sparkgap.provider=$beside_nccl" \
        -- 65536 64 "$pes" "$logs/decode.json"
      ;;
    product)
      submit product 300 io.sparkgap.examples.FusedProduct "spark.sparkgap.provider=$beside_nccl" \
        -- - "$pes" "${cublas:--}" "$logs/product.json"
      if [ "$shared" = false ] && python3 -c 'import torch' 2> /dev/null; then
        echo "== torch_fused_product.py, at most 150 s"
        timeout --kill-after=10 150 python3 -m torch.distributed.run --nproc-per-node "$pes" \
          "$kit/torch_fused_product.py" --json "$logs/product-torch.json" > "$logs/product-torch.log" 2>&1 < /dev/null
        echo "$?" > "$logs/product-torch.exit"
        grep -qx 0 "$logs/product-torch.exit" || good=false
      else
        echo "PyTorch's is not measured: it needs torch, and a GPU for each PE"
      fi
      ;;
    *)
      submit "$provider-steady" 170 "$check" "spark.sparkgap.provider=$provider" \
        -- steady "$pes" "$logs/$provider-steady.json"
      submit "$provider-changes" 120 "$check" "spark.sparkgap.provider=$provider" spark.sparkgap.worlds.idle.max=0 \
        -- changes "$pes" "$logs/$provider-changes.json"
      ;;
  esac
done
[ "$good" = true ]
