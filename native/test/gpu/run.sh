#!/usr/bin/env bash
# Tests and benchmark of GPU worlds, on a GPU host that need not have more than CUDA's driver and Python's wheels of
# NVSHMEM and NCCL.
#
#   native/test/gpu/run.sh pack FOLDER [BUILD]   here: builds in BUILD (native/target/cmake) and packs into FOLDER, 13 MB
#   FOLDER/run.sh run RESULTS [STEP...]          there: on all GPUs that it finds. STEPs: kernels worlds hosts
#                                              bench rows shapes sanitizer; all but shapes if none is named
#
# hosts: worlds of provider nccl on two hosts that are namespaces of this one (tools/hosts/hosts.py; needs root), which are
# also measured beside NCCL alone where there are two GPUs.
#
# With one GPU: 1, 2, 4 and 8 PEs share it under MPS, which is started and stopped here; provider nccl is left out. With
# more: one PE a GPU, both providers. RESULTS gets summary.txt, a log of each step, and collectives-*.json. Fails if a step
# does. Every step has a deadline.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() { sed -n '2,15p' "${BASH_SOURCE[0]}" >&2; exit 2; }

pack() {
  local folder=$1 native build libraries
  native=$(cd "$here/../.." && pwd)
  build=${2:-$native/target/cmake}
  if ! grep -q 'SPARKGAP_CUDA:BOOL=ON' "$build/CMakeCache.txt" 2>/dev/null; then
    echo "No build with GPU code in $build. Make one first: mvn -B compile -pl native -Pcuda" >&2
    exit 1
  fi
  set -e
  cmake -DSPARKGAP_BENCH=ON -DSPARKGAP_TESTS=ON "$build" > /dev/null
  cmake --build "$build" -j "$(nproc)" --target sparkgap gpu_tests gpu_collective_bench gpu_rows_bench \
    nodes_bench
  mkdir -p "$folder"
  # Maven has the libraries built straight into its classes.
  libraries=$(sed -n 's/^CMAKE_LIBRARY_OUTPUT_DIRECTORY:[A-Z]*=//p' "$build/CMakeCache.txt")
  for name in libsparkgap.so libsparkgap_cuda.so libfabric.so.1 gpu_kernels_test gpu_world_test gpu_collective_bench \
    gpu_rows_bench nodes_bench; do
    cp "$(find "$build" ${libraries:+"$libraries"} -name "$name" -type f | head -n 1)" "$folder/"
  done
  cp "${BASH_SOURCE[0]}" "$folder/run.sh"
  cp "$native/../tools/hosts/hosts.py" "$native/../tools/hosts/network.py" "$folder/"
  du -sh "$folder"
}

results='' failed=0

# step NAME SECONDS COMMAND...: its output goes to RESULTS/NAME.log, one line to the summary.
step() {
  local name=$1 seconds=$2 start=$SECONDS code=0
  shift 2
  timeout --kill-after=10 "$seconds" "$@" > "$results/$name.log" 2>&1 || code=$?
  local line="ok    $name, $((SECONDS - start)) s"
  if ((code != 0)); then
    line="FAIL  $name, $((SECONDS - start)) s, exit code $code"
    failed=1
  fi
  echo "$line" | tee -a "$results/summary.txt"
  ((code == 0)) || grep -vE '^ok ' "$results/$name.log" | tail -n 15
}

# Where Python's wheel of NCCL is; the loader's name if there is none.
nccl_library() {
  python3 - <<'PYTHON' 2>/dev/null || echo libnccl.so.2
import glob, sysconfig
print(glob.glob(sysconfig.get_path("purelib") + "/nvidia/nccl/lib/libnccl.so.2")[0])
PYTHON
}

# Where Python's wheels of cuBLAS are; nothing if there are none, and the loader's names are tried.
cublas_library() {
  python3 - <<'PYTHON' 2>/dev/null
import glob, sysconfig
print((glob.glob(sysconfig.get_path("purelib") + "/nvidia/*/lib/libcublas.so.1[23]") or [""])[0])
PYTHON
}

start_mps() {
  CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d)
  CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
  export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  trap 'echo quit | nvidia-cuda-mps-control; rm -rf "$CUDA_MPS_PIPE_DIRECTORY"' EXIT
  nvidia-cuda-mps-control -d
}

run() {
  local gpus numbers largest pes steps=("${@:2}")
  results=$(mkdir -p "$1" && cd "$1" && pwd)
  ((${#steps[@]} > 0)) || steps=(kernels worlds hosts bench rows sanitizer)
  cd "$here"
  chmod +x gpu_kernels_test gpu_world_test gpu_collective_bench gpu_rows_bench nodes_bench
  export LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} NCCL_NVLS_ENABLE=0 NVSHMEM_DISABLE_NVLS=1
  CUBLAS_LIBRARY=${CUBLAS_LIBRARY:-$(cublas_library)}
  export CUBLAS_LIBRARY
  gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU')
  : > "$results/summary.txt"
  if ((gpus == 0)); then
    echo "FAIL  no GPU: nvidia-smi -L lists none" | tee -a "$results/summary.txt"
    exit 1
  fi
  numbers=1 largest=$gpus
  if ((gpus == 1)); then
    numbers=1,2,4,8 largest=2
    start_mps
  else
    for ((pes = 2; pes <= gpus; ++pes)); do numbers+=,$pes; done
  fi
  nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee -a "$results/summary.txt"

  for name in "${steps[@]}"; do
    case $name in
      kernels) step kernels 400 env SPARKGAP_TEST_PES="$numbers" ./gpu_kernels_test ;;
      worlds)
        if ((gpus == 1)); then
          for pes in ${numbers//,/ }; do
            step "world-nvshmem-$pes" 150 ./gpu_world_test --pes "$pes" --provider nvshmem
          done
        else
          step world-nvshmem 150 ./gpu_world_test --pes "$largest" --provider nvshmem
          step world-nccl 150 ./gpu_world_test --pes "$largest" --provider nccl
        fi
        ;;
      hosts)
        local hosts=(python3 "$here/hosts.py" --hosts 2 run)
        step hosts-1-1 200 "${hosts[@]}" "$here/gpu_world_test" --nodes 1,1
        # Two of these PEs are on one GPU, which NCCL allows for those of different hosts alone, and take turns there.
        ((gpus == 1)) || step hosts-2-1 100 "${hosts[@]}" "$here/gpu_world_test" --nodes 2,1 nodes_and_routes_are_known \
          one_sided_calls_end_at_the_node links_are_those_of_the_gpus a_symmetric_buffer_is_reduced_in_place \
          blocks_of_all_to_allv_leave_what_lies_between_alone
        if ((gpus > 1)); then
          step hosts-bench 200 "${hosts[@]}" "$here/nodes_bench" --nccl "$(nccl_library)"
          cp "$results/hosts-bench.log" "$results/nodes-nccl.json"
        fi
        ;;
      bench)
        step bench 300 ./gpu_collective_bench --pes "$largest" --nccl "$(nccl_library)" \
          --collectives allReduce,reduceScatter,allGather,broadcast,reduce,allToAll,allToAllv
        step blocks 100 ./gpu_collective_bench --pes "$largest" --nccl none --modes graph --from 262144 \
          --max-blocks 4,8,16,32,0
        step steps 60 ./gpu_collective_bench --pes "$largest" --what steps --to 32768 --factor 4 \
          --collectives allReduce,allGather
        step resident 60 ./gpu_collective_bench --pes "$largest" --what resident
        step floors 60 ./gpu_collective_bench --pes "$largest" --what floors
        for name in bench blocks steps resident floors; do cp "$results/$name.log" "$results/collectives-$name.json"; done
        ;;
      rows)
        for pes in ${numbers//,/ }; do
          step "rows-$pes" 60 ./gpu_rows_bench --pes "$pes" --gpus "$gpus"
          step "rows-float8-$pes" 60 ./gpu_rows_bench --pes "$pes" --gpus "$gpus" --float8 1
          for name in rows rows-float8; do cp "$results/$name-$pes.log" "$results/$name-$pes.json"; done
        done
        ;;
      shapes)
        step shapes 300 ./gpu_collective_bench --pes "$largest" --what shapes --factor 2 --collectives allReduce,allGather
        cp "$results/shapes.log" "$results/shapes.json"
        ;;
      sanitizer)
        # It slows kernels down by hundreds; so few PEs and the tests that end.
        local sanitizer
        if sanitizer=$(PATH=$PATH:/usr/local/cuda/bin command -v compute-sanitizer); then
          sanitizer+=" --target-processes all --error-exitcode 9"
          local some=(small/"$largest" hidden_words/"$largest" grid/barrier/"$largest")
          step memcheck 200 env SPARKGAP_TEST_PES="$largest" $sanitizer ./gpu_kernels_test "${some[@]}" graph/"$largest"
          step racecheck 200 env SPARKGAP_TEST_PES="$largest" $sanitizer --tool racecheck ./gpu_kernels_test "${some[@]}"
        else
          echo "none  compute-sanitizer is not on this host" | tee -a "$results/summary.txt"
        fi
        ;;
      *) usage ;;
    esac
  done
  exit "$failed"
}

case ${1:-} in
  pack) (($# >= 2)) || usage; pack "${@:2}" ;;
  run) (($# >= 2)) || usage; run "${@:2}" ;;
  *) usage ;;
esac
