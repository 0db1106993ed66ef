#!/usr/bin/env python3
"""Measures how long a stage waits for its world: built by executors that have none, and reused by those that have one.

Starts two Spark applications on executors that are processes of their own. See README.md for what is measured.
"""

import argparse
import json
import os
import statistics
import sys

import run

CLASSPATH_FILE = "bench.classpath"


def main():
    arguments = parse_arguments()
    measured = json.loads(
        run.output(java_command("io.sparkgap.bench.WorldBench", arguments.executors, arguments.worlds)).splitlines()[-1])
    report = {
        **run.provenance(arguments.name),
        **measured,
    }
    print(f"World of {measured['pes']} PEs, from the last PE's arrival until all can call, ms")
    print(f"{'':>24} {'median':>8} {'least':>8} {'most':>8}  limit")
    slow = []
    for what, key, limit in (("first of an application", "first_ms", arguments.built_limit),
                             ("built", "built_ms", arguments.built_limit),
                             ("reused", "reused_ms", arguments.reused_limit)):
        times = measured[key]
        print(f"{what:>24} {statistics.median(times):8.1f} {min(times):8.1f} {max(times):8.1f}  {limit:g}")
        if statistics.median(times) > limit:
            slow.append(what)
    run.write(report)
    for what in slow:
        print(f"Over its limit: {what}")
    return 1 if slow and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="world", help="of the file in bench/results (world)")
    parser.add_argument("--executors", type=int, default=4, help="executors, each with one PE (4)")
    parser.add_argument("--worlds", type=int, default=30, help="worlds that each application makes (30)")
    parser.add_argument("--built-limit", type=float, default=50, help="ms that building may take, median (50)")
    parser.add_argument("--reused-limit", type=float, default=10, help="ms that reusing may take, median (10)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a limit is passed")
    return parser.parse_args()


def java_command(main_class, *arguments):
    """Compiles the plugin and its tests and returns the command that starts a benchmark of Spark applications."""
    module = run.REPOSITORY / "spark-plugin"
    run.step(["mvn", "-B", "-q", "-f", str(run.REPOSITORY), "-pl", "spark-plugin", "-am", "test-compile",
              "dependency:build-classpath", f"-Dmdep.outputFile=target/{CLASSPATH_FILE}"])
    classpath = [str(module / "target" / "test-classes"), str(module / "target" / "classes"),
                 (module / "target" / CLASSPATH_FILE).read_text().strip()]
    os.environ["SPARK_HOME"] = str(run.REPOSITORY / "launcher" / "spark-home" / "target" / "spark")
    os.environ["SPARK_SCALA_VERSION"] = run.property_of_pom("scala.binary.version")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return ["java", *run.property_of_pom("spark.jvm.opens").split(), "-cp", os.pathsep.join(classpath), main_class,
            *map(str, arguments)]


if __name__ == "__main__":
    os.chdir(run.REPOSITORY / "spark-plugin")
    sys.exit(main())
