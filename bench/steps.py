#!/usr/bin/env python3
"""Measures a step of many all-reduces beside the same calls one by one, on this machine, in turns.

Both are the native library's. A figure is the median of the turns, of one call. See README.md for what is measured.
"""

import argparse
import json
import os
import statistics
import sys

import run


def main():
    arguments = parse_arguments()
    run.build()
    report = {**run.provenance(arguments.name), "runs": [compare(pes, arguments) for pes in arguments.pes]}
    for result in report["runs"]:
        print_table(result)
    run.write(report)
    slower = [size for result in report["runs"] for size in result["sizes"] if size["ratio"] > arguments.limit]
    for size in slower:
        print(f"{run.human(size['bytes'])} takes {size['ratio']:.2f} times as long in a step")
    return 1 if slower and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="steps", help="of the file in bench/results (steps)")
    parser.add_argument("--pes", type=int, nargs="+", default=[2], help="numbers of processes (2)")
    parser.add_argument("--calls", type=int, default=50, help="of a step (50)")
    parser.add_argument("--memory", choices=run.MEMORIES, default="private", help="where the arrays are (private)")
    parser.add_argument("--rounds", type=int, default=5, help="turns that each gets (5)")
    parser.add_argument("--from", dest="from_bytes", type=int, default=64, help="smallest size in bytes (64)")
    parser.add_argument("--to", dest="to_bytes", type=int, default=16384, help="largest size in bytes (16384)")
    parser.add_argument("--factor", type=int, default=4, help="from size to size (4)")
    parser.add_argument("--limit", type=float, default=1.0, help="ratio to the calls one by one (1.0)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a size is over the limit")
    return parser.parse_args()


def compare(pes, arguments):
    """All rounds for one number of processes: {pes, calls, pinned, sizes: [{bytes, call_us, step_us, ratio, ...}]}."""
    cores = len(os.sched_getaffinity(0))
    pinned = pes <= cores
    command = [str(run.program("collective_bench")), "--pes", str(pes), "--pin", "yes" if pinned else "no", "--memory",
               arguments.memory, "--from", str(arguments.from_bytes), "--to", str(arguments.to_bytes), "--factor",
               str(arguments.factor)]
    ways = {"call": 0, "step": arguments.calls}
    times, routes = {}, {}
    for _ in range(arguments.rounds):
        for way, calls in ways.items():
            for result in json.loads(run.output(command + ["--step", str(calls)]))["results"]:
                times.setdefault((result["bytes"], way), []).append(result["us"])
                routes[result["bytes"]] = result["route"]
    sizes = []
    for size, route in routes.items():
        row = {"bytes": size, "route": route}
        for way in ways:
            row[f"{way}_us"] = statistics.median(times[size, way])
            row[f"{way}_all_us"] = times[size, way]
        row["ratio"] = round(row["step_us"] / row["call_us"], 3)
        sizes.append(row)
    return {"pes": pes, "calls": arguments.calls, "memory": arguments.memory, "cores": cores, "pinned": pinned,
            "rounds": arguments.rounds, "sizes": sizes}


def print_table(result):
    print(f"\nallReduce of float32, {result['pes']} processes on {result['cores']} cores, {result['memory']} memory, us "
          f"a call")
    print(f"{'size':>9} {'by itself':>10} {'in a step':>10} {'ratio':>7}  route")
    for row in result["sizes"]:
        print(f"{run.human(row['bytes']):>9} {row['call_us']:10.3f} {row['step_us']:10.3f} {row['ratio']:7.2f}  "
              f"{row['route']}")


if __name__ == "__main__":
    sys.exit(main())
