#!/usr/bin/env bash
# Runs the check on two hosts that are namespaces of this GPU host, each with a GPU of its own; see README.md.
#
#   run-hosts.sh KIT_DIR OUT_DIR      needs root and two GPUs
#
# A Spark standalone master and a worker are on the first host, a worker on the second; worlds are of provider nccl. Then
# the same training on one host. OUT_DIR gets summary.txt, a JSON file of each application, and logs.tar.gz. SPARKGAP_NCCL
# (path of the library) and SPARKGAP_SECONDS (200: for all of it) change what it does. Exit status 0 if all was good.
set -uo pipefail
kit=$(cd "${1:?usage: run-hosts.sh KIT_DIR OUT_DIR}" && pwd)
out=$(mkdir -p "${2:?usage: run-hosts.sh KIT_DIR OUT_DIR}" && cd "$2" && pwd)
export NCCL_NVLS_ENABLE=0 CUDA_DEVICE_ORDER=PCI_BUS_ID

if [ -z "${SPARKGAP_HOSTS:-}" ]; then
  exec timeout --kill-after=10 "${SPARKGAP_SECONDS:-200}" python3 "$kit/hosts.py" --hosts 2 run bash "$0" "$kit" "$out"
fi

work=$(mktemp -d)  # nothing of it is left
finish() {
  (cd "$work/spark/work" 2> /dev/null && find . \( -name stderr -o -name stdout \) -exec cp --parents {} "$out/logs" \;)
  tar czf "$out/logs.tar.gz" -C "$out" logs
  cat "$out/end-a-host-now.seen" >> "$out/summary.txt" 2> /dev/null
  rm -rf "$work" "$out/logs" "$out"/end-a-host-now*
  cat "$out/summary.txt"
}
trap finish EXIT
mkdir -p "$out/logs" "$work/spark/conf" "$work/local"
: > "$out/summary.txt"
tar xJf "$kit/spark-kit.tar.xz" -C "$work" || exit 1
cat > "$work/spark/conf/log4j2.properties" << 'LOG4J'
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
logger.sparkgap.name = io.sparkgap
logger.sparkgap.level = info
logger.deploy.name = org.apache.spark.deploy
logger.deploy.level = info
LOG4J
printf '#!/bin/sh\necho '"'"'{"name": "gpu", "addresses": ["0"]}'"'"'\n' > "$work/one-gpu.sh"
chmod +x "$work/one-gpu.sh"

site=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2> /dev/null || true)
nccl=${SPARKGAP_NCCL:-$(ls "$site"/nvidia/nccl/lib/libnccl.so.2 2> /dev/null || true)}
settings=(--jars "$kit/sparkgap-spark-plugin.jar,$kit/sparkgap-examples.jar"
  --conf spark.plugins=io.sparkgap.SparkgapPlugin --conf spark.sparkgap.provider=nccl
  --conf spark.executor.memory=1g --conf spark.executor.cores=1 --conf spark.default.parallelism=2
  --conf spark.executor.resource.gpu.amount=1 --conf spark.task.resource.gpu.amount=1
  --conf spark.sparkgap.peer.timeout=15s --conf spark.sparkgap.slots.timeout=5s
  --conf spark.executor.heartbeatInterval=1s --conf spark.network.timeout=10s  # Spark, too, is to see that a host is gone
  --conf spark.ui.port=0 --conf spark.ui.showConsoleProgress=false --conf "spark.local.dir=$work/local")
if [ -n "$nccl" ]; then settings+=(--conf "spark.sparkgap.nccl.library=$nccl"); fi

on() { python3 "$kit/hosts.py" exec "$@"; }  # HOST COMMAND...
deploy() {  # HOST GPU CLASS ARGUMENTS...
  local host=$1 gpu=$2
  shift 2
  on "$host" env SPARK_HOME="$work/spark" SPARK_SCALA_VERSION=2.13 SPARK_LOCAL_IP="10.77.0.$((host + 1))" \
    CUDA_VISIBLE_DEVICES="$gpu" "$work/jre/bin/java" -XX:+UseSerialGC -Xmx256m \
    -Dspark.worker.resource.gpu.amount=1 -Dspark.worker.resource.gpu.discoveryScript="$work/one-gpu.sh" \
    -cp "$work/spark/conf:$work/spark/jars/*" "org.apache.spark.deploy.$@"
}
await() {  # LOG TEXT
  for _ in $(seq 300); do
    if grep -q "$2" "$out/logs/$1" 2> /dev/null; then return; fi
    sleep 0.1
  done
  echo "$1 did not come up" | tee -a "$out/summary.txt"
  exit 1
}
good=true
say() {  # NAME STATUS: a line, and one for each step that the application has written of
  echo "$1: exit $2" >> "$out/summary.txt"
  if [ "$2" -ne 0 ]; then good=false; fi
  python3 - "$out/$1.json" "$out/logs/$1.log" >> "$out/summary.txt" << 'PYTHON'
import json, os, sys
report, log = sys.argv[1:]
if not os.path.exists(report):
    with open(log, errors="replace") as file:
        print("".join("  " + line for line in file.readlines()[-12:]), end="")
    sys.exit()
with open(report) as file:
    for step in json.load(file).get("steps", []):
        found = json.dumps(step.get("result", step.get("error", "")))
        print(f"  {step['step']}: {'good' if step.get('ok') else 'FAILED'} in {step.get('seconds', 0):.1f} s: {found[:700]}")
PYTHON
}

deploy 0 "" master.Master --host 10.77.0.1 --port 7077 --webui-port 0 > "$out/logs/master.log" 2>&1 < /dev/null &
await master.log "elected leader"
for host in 0 1; do
  mkdir -p "$work/spark/work/$host"
  deploy "$host" "$host" worker.Worker --host "10.77.0.$((host + 1))" --cores 1 --memory 2g --webui-port 0 \
    --work-dir "$work/spark/work/$host" spark://10.77.0.1:7077 > "$out/logs/worker-$host.log" 2>&1 < /dev/null &
done
for host in 0 1; do await "worker-$host.log" "Successfully registered"; done

# The last step asks for the end of the second host.
(
  until [ -e "$out/end-a-host-now" ]; do sleep 0.05; done
  python3 "$kit/hosts.py" kill 1
) &
killer=$!
on 0 env SPARK_LOCAL_IP=10.77.0.1 bash "$kit/spark-submit" "$work" --master spark://10.77.0.1:7077 \
  --class io.sparkgap.examples.GpuCheck "${settings[@]}" --conf spark.driver.host=10.77.0.1 \
  "$kit/sparkgap-check.jar" hosts 2 "$out/hosts.json" > "$out/logs/hosts.log" 2>&1 < /dev/null
say hosts $?
kill "$killer" 2> /dev/null

# The same weights must come out where both GPUs are on one host.
bash "$kit/spark-submit" "$work" --master 'local-cluster[1,2,3072]' --class io.sparkgap.examples.TrainDigits \
  "${settings[@]}" --conf spark.worker.resource.gpu.amount=2 \
  --conf "spark.worker.resource.gpu.discoveryScript=$kit/discover-gpu.sh" --conf spark.driver.host=127.0.0.1 \
  "$kit/sparkgap-check.jar" > "$out/logs/one-host.log" 2>&1 < /dev/null
say one-host $?
[ "$good" = true ]
