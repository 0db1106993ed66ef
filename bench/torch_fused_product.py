#!/usr/bin/env python3
"""PyTorch's fused matrix product and reduce-scatter on the GPUs of this host, by shape, as JSON lines.

  torchrun --nproc-per-node 2 bench/torch_fused_product.py [--shapes 1024x4096x4096,...] [--json FILE]

The peer of the example FusedProduct: bfloat16, a shape is ROWSxCOLUMNSxINNER of all ranks, each of which has its part of the
inner dimension; the same numbers, whose sums are exact; runs back to back, the median of five batches, the slowest rank counts.
`fused` is torch.ops.symm_mem.fused_matmul_reduce_scatter, `in turn` torch.matmul and then reduce_scatter_tensor, which is NCCL's.
Multicast stays off. Not every version has the fused one; where it fails the line says why.
"""
import argparse
import json
import os

os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"
os.environ["NCCL_NVLS_ENABLE"] = "0"

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric_memory

SHAPES = ",".join(f"{rows}x{size}x{size}" for size in (4096, 8192) for rows in (1024, 2048, 4096, 8192))
BATCHES = 5
RUNS = 20


def measured(call):
    """Microseconds of a call."""
    for _ in range(3):
        call()
    batches = []
    for _ in range(BATCHES):
        dist.barrier()
        torch.cuda.synchronize()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(RUNS):
            call()
        end.record()
        torch.cuda.synchronize()
        slowest = torch.tensor([start.elapsed_time(end) * 1e3 / RUNS], device="cuda")
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        batches.append(slowest.item())
    return sorted(batches)[BATCHES // 2]


def ways(rows, columns, inner, group):
    """(name, call) of each, on the same matrices."""
    ranks = dist.get_world_size()
    random = torch.Generator(device="cuda").manual_seed(dist.get_rank())

    def matrix(its_rows):
        return (torch.randint(-4, 5, (its_rows, inner // ranks), device="cuda", generator=random) / 8).bfloat16()

    left, right = matrix(rows), matrix(columns).t()
    product = torch.empty((rows, columns), device="cuda", dtype=torch.bfloat16)
    scattered = torch.empty((rows // ranks, columns), device="cuda", dtype=torch.bfloat16)

    def in_turn():
        torch.matmul(left, right, out=product)
        dist.reduce_scatter_tensor(scattered, product)
        return scattered

    def fused():
        return torch.ops.symm_mem.fused_matmul_reduce_scatter(left, right, "sum", scatter_dim=0, group_name=group)

    yield "in turn", in_turn
    yield "fused", fused


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default=SHAPES)
    parser.add_argument("--json", help="a file for all lines as one object")
    options = parser.parse_args()
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shapes.split(",")]
    rows_found = []
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    group = dist.group.WORLD.group_name
    if hasattr(symmetric_memory, "enable_symm_mem_for_group"):
        symmetric_memory.enable_symm_mem_for_group(group)
    for rows, columns, inner in shapes:
        expected = None
        for way, call in ways(rows, columns, inner, group):
            row = {"rows": rows, "columns": columns, "inner": inner, "sum": "reduceScatter", "way": "torch, " + way,
                   "library": "torch " + torch.__version__}
            try:
                result = call().float()
                expected = result.clone() if expected is None else expected
                row["largestDifference"] = (result - expected).abs().max().item()
                row["micros"] = round(measured(call), 2)
            except Exception as error:  # which of these operations there are differs between versions
                row["error"] = str(error).splitlines()[0][:200]
            rows_found.append(row)
            if dist.get_rank() == 0:
                print(json.dumps(row), flush=True)
    if options.json and dist.get_rank() == 0:
        with open(options.json, "w") as file:
            json.dump({"rows": rows_found}, file, indent=1)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
