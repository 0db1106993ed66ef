#!/usr/bin/env python3
"""Measures what an all-reduce costs when it is called from Java, beside the same native call, in one run.

Builds both benchmarks, then takes turns: native in symmetric memory, Java in symmetric memory, Java on a float[], between
processes of this host or of two. A figure is the median of the turns. See README.md for what is measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import run
import two_hosts
import world


def main():
    arguments = parse_arguments()
    if not two_hosts.are_here() and not arguments.no_build:
        run.build()
        world.build()
    if arguments.hosts == 2:
        two_hosts.make()
    java = world.built("io.sparkgap.bench.AllReduceBench")
    java.insert(1, f"-Dsparkgap.bench.hosts={two_hosts.HOSTS}")
    report = {
        **run.provenance(arguments.name),
        "hosts": arguments.hosts,
        "runs": [compare(pes, busy, java, arguments) for pes in arguments.pes for busy in arguments.busy],
    }
    for result in report["runs"]:
        print_table(result)
    run.write(report)
    over = [size for result in report["runs"] for size in result["sizes"]
            if size["over_us"] > max(arguments.limit, size["native_us"] * arguments.noise)]
    allocating = [size for result in report["runs"] for size in result["sizes"]
                  if size["symmetric_allocated_bytes"] or size["array_allocated_bytes"]]
    for size in over:
        print(f"{run.human(size['bytes'])} takes {size['over_us']:.2f} us longer from Java")
    for size in allocating:
        print(f"{run.human(size['bytes'])} allocates on the Java heap")
    return 1 if arguments.fail and (over or allocating) else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", help="of the file in bench/results (java-calls, java-calls-hosts)")
    parser.add_argument("--hosts", type=int, choices=[1, 2], default=1, help="2: half of the processes on each of two hosts (1)")
    parser.add_argument("--pes", type=int, nargs="+", default=[2], help="numbers of processes (2)")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each gets (3)")
    parser.add_argument("--from", dest="from_bytes", type=int, default=64, help="smallest size in bytes (64)")
    parser.add_argument("--to", dest="to_bytes", type=int, default=64 << 20, help="largest size in bytes (67108864)")
    parser.add_argument("--factor", type=int, default=4, help="from size to size (4)")
    parser.add_argument("--loose", dest="bind", action="store_false", help="bind no process to a core, as Spark binds none")
    parser.add_argument("--busy", type=int, nargs="+", default=[0], help="numbers of other processes that do nothing but "
                        "compute (0)")
    parser.add_argument("--limit", type=float, default=0.1, help="us that Java may add to a call (0.1)")
    parser.add_argument("--noise", type=float, default=0.05,
                        help="part of the native time that two runs of it may differ by anyway (0.05)")
    parser.add_argument("--no-build", action="store_true", help="measure what is built")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if it adds more, or allocates")
    arguments = parser.parse_args()
    arguments.name = arguments.name or ("java-calls" if arguments.hosts == 1 else "java-calls-hosts")
    return arguments


def compare(pes, busy, java, arguments):
    """All rounds under one condition: {pes, pinned, busy, sizes: [{bytes, native_us, symmetric_us, array_us, ...}]}."""
    cores = len(os.sched_getaffinity(0))
    pinned = arguments.bind and pes <= cores
    common = ["--pes", str(pes), "--nodes", str(arguments.hosts), "--pin", "yes" if pinned else "no", "--from",
              str(arguments.from_bytes), "--to", str(arguments.to_bytes), "--factor", str(arguments.factor)]
    commands = {
        "native": [str(run.program("collective_bench")), "--memory", "symmetric"] + common,
        "symmetric": java + ["--memory", "symmetric"] + common,
        "array": java + ["--memory", "array"] + common,
    }
    times, allocated, routes = {}, {}, {}
    with run.busy_processes(busy):
        for _ in range(arguments.rounds):
            for who, command in commands.items():
                for result in json.loads(run.output(command))["results"]:
                    key = result["bytes"], who
                    times.setdefault(key, []).append(result["us"])
                    allocated[key] = max(allocated.get(key, 0), result.get("allocated_bytes_per_call", 0))
                    routes[result["bytes"]] = result["route"]
    sizes = []
    for size, route in routes.items():
        row = {"bytes": size, "route": route}
        for who in commands:
            row[f"{who}_us"] = statistics.median(times[size, who])
            row[f"{who}_all_us"] = times[size, who]
        row["over_us"] = round(row["symmetric_us"] - row["native_us"], 3)
        row["symmetric_allocated_bytes"] = allocated[size, "symmetric"]
        row["array_allocated_bytes"] = allocated[size, "array"]
        sizes.append(row)
    return {"pes": pes, "cores": cores, "pinned": pinned, "busy": busy, "java": java_version(), "rounds": arguments.rounds,
            "sizes": sizes}


def java_version():
    result = subprocess.run(["java", "-version"], capture_output=True, text=True)
    return result.stderr.splitlines()[0]


def print_table(result):
    print(f"\nallReduce of float32, {result['pes']} processes on {result['cores']} cores, "
          f"{'bound' if result['pinned'] else 'not bound'}, beside {result['busy']} busy loops, us a call, {result['java']}")
    print(f"{'size':>9} {'native':>10} {'Java':>10} {'more':>8} {'B/call':>7} {'float[]':>10} {'B/call':>7}  route")
    for row in result["sizes"]:
        print(f"{run.human(row['bytes']):>9} {row['native_us']:10.2f} {row['symmetric_us']:10.2f} "
              f"{row['over_us']:8.3f} {row['symmetric_allocated_bytes']:7.1f} {row['array_us']:10.2f} "
              f"{row['array_allocated_bytes']:7.1f}  {row['route']}")


if __name__ == "__main__":
    sys.exit(main())
