#!/usr/bin/env python3
"""Measures the sum of one large float[] of each executor: Spark's treeAggregate beside an all-reduce, in one application.

Builds the project, submits io.sparkgap.examples.TreeAggregateSweep to local-cluster, or to a standalone Spark on two hosts, and
keeps what it measured with machine, date and commit. See README.md for what is measured.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import run
import two_hosts

SPARK_HOME = two_hosts.SPARK
MEGABYTES = (1, 10, 100)
# By the number of hosts.
TIMES_FASTER = {1: (200, 50, 20), 2: (400, 20, 8)}


def main():
    arguments = parse_arguments()
    if not two_hosts.are_here() and not arguments.no_build:
        run.step(["mvn", "-B", "-q", "-f", str(run.REPOSITORY), "package", "-DskipTests", "-Dnative.tests=OFF"])
    if arguments.hosts == 2:
        two_hosts.make()
    report = {**run.provenance(arguments.name), "hosts": arguments.hosts}
    with tempfile.TemporaryDirectory() as folder:
        report.update(sweep(arguments, Path(folder)))
    print_table(report)
    run.write(report)
    slow = [(figure, wanted) for figure, wanted in zip(report["figures"], TIMES_FASTER[arguments.hosts])
            if figure["timesFaster"] < wanted]
    for figure, wanted in slow:
        print(f"{run.human(figure['bytes'])} is {figure['timesFaster']:.0f} times faster, not {wanted}")
    return 1 if arguments.fail and slow else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", help="of the file in bench/results (tree-aggregate, tree-aggregate-hosts)")
    parser.add_argument("--hosts", type=int, choices=[1, 2], default=1, help="2: an executor on each of two hosts (1)")
    parser.add_argument("--pes", type=int, help="executors, each with one core and 2 GB (4; one a host)")
    parser.add_argument("--repetitions", type=int, default=15, help="of which the median counts (15)")
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting for Spark")
    parser.add_argument("--no-build", action="store_true", help="measure what is built")
    parser.add_argument("--fail", action="store_true",
                        help="exit with 1 if not %s times faster at %s MB, or %s on two hosts"
                        % (TIMES_FASTER[1], MEGABYTES, TIMES_FASTER[2]))
    arguments = parser.parse_args()
    arguments.name = arguments.name or ("tree-aggregate" if arguments.hosts == 1 else "tree-aggregate-hosts")
    arguments.pes = arguments.pes or {1: 4, 2: 2}[arguments.hosts]
    if arguments.hosts == 2 and arguments.pes != 2:
        parser.error("on two hosts there are two executors")
    return arguments


def sweep(arguments, folder):
    """What the job wrote: {master, pes, spark, java, cores, repetitions, figures: [{bytes, ...}]}."""
    if arguments.hosts == 1:
        return submit([], f"local-cluster[{arguments.pes},1,2048]", environment(folder), arguments, folder)
    with two_hosts.spark(folder, "3g") as (master, variables):
        return submit(two_hosts.on(0), master, variables, arguments, folder)


def submit(where, master, variables, arguments, folder):
    result = folder / "sweep.json"
    settings = [
        "spark.plugins=io.sparkgap.SparkgapPlugin",
        f"spark.cores.max={arguments.pes}",
        "spark.executor.memory=2g",
        "spark.scheduler.minRegisteredResourcesRatio=1.0",
        "spark.ui.port=0",
        f"spark.local.dir={folder}",
    ] + arguments.conf
    command = [*where, str(SPARK_HOME / "bin" / "spark-submit"), "--master", master, "--driver-memory", "3g", "--jars",
               str(jar("spark-plugin"))]
    for setting in settings:
        command += ["--conf", setting]
    command += ["--class", "io.sparkgap.examples.TreeAggregateSweep", str(jar("examples")), "--json", str(result),
                "--megabytes", ",".join(str(size) for size in MEGABYTES), "--repetitions", str(arguments.repetitions)]
    log = folder / "spark.log"
    with log.open("w") as errors:
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=errors, env=variables)
    if ended.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {ended.returncode}:\n" + "\n".join(log.read_text().splitlines()[-40:]))
    return json.loads(result.read_text())


def environment(folder):
    """Spark's workers write into their Spark home, so this run gets one of its own with the same jars."""
    home = folder / "spark"
    home.mkdir()
    (home / "RELEASE").touch()
    (home / "jars").symlink_to(SPARK_HOME / "jars")
    return dict(os.environ, SPARK_HOME=str(home), SPARK_LOCAL_IP="127.0.0.1")


def jar(module):
    """The module's own jar, not those of its sources, Javadoc and tests that lie beside it once it was installed."""
    jars = [path for path in (run.REPOSITORY / module / "target").glob(f"sparkgap-{module}-*.jar")
            if not path.stem.endswith(("-sources", "-javadoc", "-tests"))]
    if len(jars) != 1:
        sys.exit(f"{module}/target has {len(jars)} jars of its own instead of one: mvn clean package")
    return jars[0]


def print_table(report):
    print(f"\nSum of a float[] of each of {report['pes']} executors, {report['master']}, Spark {report['spark']}, ms")
    print(f"{'size':>9} {'treeAggregate':>14} {'all-reduce':>11} {'of float[]':>11} {'times':>6} {'times':>6}  route")
    for figure in report["figures"]:
        print(f"{run.human(figure['bytes']):>9} {figure['treeAggregateMillis']:14.1f} {figure['allReduceMillis']:11.3f} "
              f"{figure['arrayAllReduceMillis']:11.3f} {figure['timesFaster']:6.0f} {figure['arrayTimesFaster']:6.0f}"
              f"  {figure['route']}")


if __name__ == "__main__":
    sys.exit(main())
