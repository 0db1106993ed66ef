#!/usr/bin/env python3
"""All-reduce of PyTorch's symmetric memory on the GPUs of this host, by size, as JSON lines.

  torchrun --nproc-per-node 2 bench/torch_symmetric_memory.py [--from 1024] [--to 67108864] [--factor 4]

The peer of native/bench/gpu: float32, calls in a CUDA graph of 20, the median of five batches, the slowest rank counts.
`bytes` is what a rank gives. Multicast stays off. Its other collectives cannot be captured into a graph.
"""
import argparse
import json
import os

os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
os.environ["NCCL_NVLS_ENABLE"] = "0"

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric_memory

IN_GRAPH = 20
BATCHES = 5


def in_graph(call, launches):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(IN_GRAPH):
            call()
    batches = []
    for batch in range(BATCHES + 1):
        dist.barrier()
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(launches):
            graph.replay()
        end.record()
        torch.cuda.synchronize()
        slowest = torch.tensor([start.elapsed_time(end) * 1e3 / launches / IN_GRAPH], device="cuda")
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        if batch > 0:
            batches.append(slowest.item())
    return sorted(batches)[BATCHES // 2]


def calls(group, size):
    """(collective, route, call) for messages of `size` bytes."""
    count = size // 4
    ops = torch.ops.symm_mem
    tensor = symmetric_memory.empty(count, dtype=torch.float32, device="cuda").fill_(1)
    symmetric_memory.rendezvous(tensor, group)
    if size <= 4 << 20:
        yield "allReduce", "one_shot", lambda: ops.one_shot_all_reduce(tensor, "sum", group)
    yield "allReduce", "two_shot", lambda: ops.two_shot_all_reduce_(tensor, "sum", group)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="first", type=int, default=1024)
    parser.add_argument("--to", type=int, default=64 << 20)
    parser.add_argument("--factor", type=int, default=4)
    options = parser.parse_args()
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    group = dist.group.WORLD.group_name
    size = options.first
    while size <= options.to:
        for collective, route, call in calls(group, size):
            row = {"collective": collective, "library": "torch " + torch.__version__, "memory": "symmetric",
                   "mode": "graph", "route": "symm_mem/" + route, "bytes": size}
            try:
                row["us"] = round(in_graph(call, 20 if size <= 1 << 20 else 4), 3)
            except Exception as error:  # which of these operations there are differs between versions
                row["error"] = str(error).splitlines()[0][:100]
            if rank == 0:
                print(json.dumps(row), flush=True)
        size *= options.factor
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
