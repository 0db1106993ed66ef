#!/usr/bin/env python3
"""Measures results that stay on executors beside mapPartitions of the same, and what a row of a Dataset costs to read.

Starts a Spark application on executors that are processes of their own. See README.md for what is measured.
"""

import argparse
import json
import os
import statistics
import sys

import run
import world


def main():
    arguments = parse_arguments()
    prepared = world.built if arguments.no_build else world.java_command
    command = prepared("io.sparkgap.bench.DataBench", arguments.executors, arguments.megabytes, arguments.rows, arguments.rounds)
    measured = json.loads(run.output(command).splitlines()[-1])
    mapped, plain = statistics.median(measured["map_s"]), statistics.median(measured["map_partitions_s"])
    first = statistics.median(measured["first_map_s"]) / statistics.median(measured["first_map_partitions_s"])
    report = {
        **run.provenance(arguments.name),
        "megabytes": arguments.megabytes,
        "rows_of_a_pe": arguments.rows,
        **measured,
        "ratio": round(mapped / plain, 3),
        "first_ratio": round(first, 3),
    }
    print(f"{arguments.megabytes} MB of results on {arguments.executors} executors: Sparkgap.map {mapped:.2f} s, mapPartitions "
          f"and persist {plain:.2f} s, ratio {report['ratio']:.2f}; {report['first_ratio']:.2f} in the first "
          f"{len(measured['first_map_s'])} turns")
    for what, key in (("floats(\"x\", \"y\")", "floats_ns"), ("the same into a symmetric buffer", "buffer_ns"),
                      ("Row by Row", "row_ns")):
        print(f"{what:>32} {statistics.median(measured[key]):6.1f} ns a row of two columns")
    run.write(report)
    return 1 if report["ratio"] > arguments.limit and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="data", help="of the file in bench/results (data)")
    parser.add_argument("--executors", type=int, default=4, help="executors, each with one PE (4)")
    parser.add_argument("--megabytes", type=int, default=1024, help="results of all PEs together (1024)")
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of a PE's part of the Dataset (2000000)")
    parser.add_argument("--rounds", type=int, default=7, help="turns that count, of which the median is taken (7)")
    parser.add_argument("--limit", type=float, default=1.1, help="ratio to mapPartitions that is called slower (1.1)")
    parser.add_argument("--no-build", action="store_true", help="measure what is built")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if the ratio is over the limit")
    return parser.parse_args()


if __name__ == "__main__":
    os.chdir(run.REPOSITORY / "spark-plugin")
    sys.exit(main())
