#!/usr/bin/env bash
# Puts beside spark-kit.tar.xz what a GPU host runs: the plugin, the examples, the check and the scripts.
#
#   pack-jobs.sh OUT_DIR      after mvn package -Pcuda; takes seconds
set -euo pipefail
out=$(mkdir -p "${1:?usage: pack-jobs.sh OUT_DIR}" && cd "$1" && pwd)
repository=$(cd "$(dirname "$0")/../.." && pwd)
here=$repository/tools/gpu-kit

jar_of() {  # MODULE: its jar, which must be one
  local jars=()
  for jar in "$repository/$1/target/sparkgap-$1"-*.jar; do
    case $jar in *-sources.jar | *-javadoc.jar | *-tests.jar | */original-*) ;; *) jars+=("$jar") ;; esac
  done
  if [ "${#jars[@]}" -ne 1 ] || [ ! -f "${jars[0]}" ]; then
    echo "pack-jobs.sh: $1/target has no jar, or several (${jars[*]}): run mvn package -Pcuda" >&2
    exit 1
  fi
  echo "${jars[0]}"
}

require() {  # JAR LIBRARY
  if [[ $(unzip -l "$1") != *"linux-x86_64/$2"* ]]; then
    echo "pack-jobs.sh: $1 has no $2, so it can do nothing on a GPU: build with mvn package -Pcuda" >&2
    exit 1
  fi
}

plugin=$(jar_of spark-plugin)
examples=$(jar_of examples)
require "$plugin" libsparkgap_cuda.so
require "$examples" libdigits_kernels.so
cp "$plugin" "$out/sparkgap-spark-plugin.jar"
cp "$examples" "$out/sparkgap-examples.jar"
jar --create --file "$out/sparkgap-check.jar" -C "$repository/examples/target/test-classes" io
cp "$here/run.sh" "$here/run-hosts.sh" "$here/spark-submit" "$repository/conf/discover-gpu.sh" \
  "$repository/tools/hosts/hosts.py" "$repository/tools/hosts/network.py" "$repository/bench/torch_fused_product.py" "$out"
git -C "$repository" rev-parse HEAD > "$out/commit" 2> /dev/null || echo unknown > "$out/commit"
du -shc "$out"/* | sed "s|$out/||"
