#!/usr/bin/env python3
"""Measures how long a stage waits for its world: built by executors that have none, and reused by those that have one.

Starts two Spark applications on executors that are processes of their own, on this host or on two. See README.md for what
is measured.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

import run
import two_hosts

CLASSPATH_FILE = "bench.classpath"


def main():
    arguments = parse_arguments()
    if not two_hosts.are_here() and not arguments.no_build:
        build()
    if arguments.hosts == 2:
        two_hosts.make()
    measured = json.loads(measure(arguments).splitlines()[-1])
    report = {
        **run.provenance(arguments.name),
        "hosts": arguments.hosts,
        **measured,
    }
    print(f"World of {measured['pes']} PEs on {arguments.hosts} host{'s' if arguments.hosts > 1 else ''}, from the last PE's arrival until all can call, ms")
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
    parser.add_argument("--name", help="of the file in bench/results (world, world-hosts)")
    parser.add_argument("--hosts", type=int, choices=[1, 2], default=1, help="2: an executor on each of two hosts (1)")
    parser.add_argument("--executors", type=int, help="executors, each with one PE (4; one a host)")
    parser.add_argument("--worlds", type=int, default=30, help="worlds that each application makes (30)")
    parser.add_argument("--built-limit", type=float, help="ms that building may take, median (50; on two hosts 100)")
    parser.add_argument("--reused-limit", type=float, default=10, help="ms that reusing may take, median (10)")
    parser.add_argument("--no-build", action="store_true", help="measure what is built")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a limit is passed")
    arguments = parser.parse_args()
    arguments.name = arguments.name or ("world" if arguments.hosts == 1 else "world-hosts")
    arguments.executors = arguments.executors or {1: 4, 2: 2}[arguments.hosts]
    arguments.built_limit = arguments.built_limit or {1: 50, 2: 100}[arguments.hosts]
    if arguments.hosts == 2 and arguments.executors != 2:
        parser.error("on two hosts there are two executors")
    return arguments


def measure(arguments):
    command = built("io.sparkgap.bench.WorldBench", arguments.executors, arguments.worlds)
    if arguments.hosts == 1:
        return run.output(command)
    with tempfile.TemporaryDirectory() as folder, two_hosts.spark(Path(folder), "3g") as (master, variables):
        os.environ.update(variables)
        return run.output([*two_hosts.on(0), *command, master])


def build():
    """Compiles the plugin and its tests."""
    run.step(["mvn", "-B", "-q", "-f", str(run.REPOSITORY), "-pl", "spark-plugin", "-am", "test-compile",
              "dependency:build-classpath", f"-Dmdep.outputFile=target/{CLASSPATH_FILE}"])


def java_command(main_class, *arguments):
    """Builds a benchmark of Spark applications and returns what starts it."""
    build()
    return built(main_class, *arguments)


def built(main_class, *arguments):
    module = run.REPOSITORY / "spark-plugin"
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
