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

plugin=$(jar_of spark-plugin)
if ! unzip -l "$plugin" | grep -q 'linux-x86_64/libsparkgap_cuda\.so'; then
  echo "pack-jobs.sh: $plugin has no libsparkgap_cuda.so, so no GPU can be used: build with mvn package -Pcuda" >&2
  exit 1
fi
cp "$plugin" "$out/sparkgap-spark-plugin.jar"
cp "$(jar_of examples)" "$out/sparkgap-examples.jar"
jar --create --file "$out/sparkgap-check.jar" -C "$repository/examples/target/test-classes" io
cp "$here/run.sh" "$here/spark-submit" "$repository/conf/discover-gpu.sh" "$out"
git -C "$repository" rev-parse HEAD > "$out/commit" 2> /dev/null || echo unknown > "$out/commit"
du -shc "$out"/* | sed "s|$out/||"
