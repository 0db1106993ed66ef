#!/usr/bin/env python3
"""Measures logistic regression by L-BFGS: Spark ML's own LogisticRegression beside Sparkgap's, in one application.

Builds the project, submits io.sparkgap.examples.CompareLogistic to local-cluster, and keeps what it measured with machine,
date and commit. See README.md for what is measured.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import run
import tree_aggregate

ROWS = (0, 581_012)
RATIOS = (0.1, 1.0)


def main():
    arguments = parse_arguments()
    if arguments.build:
        run.step(["mvn", "-B", "-q", "-f", str(run.REPOSITORY), "package", "-DskipTests", "-Dnative.tests=OFF"])
    report = run.provenance(arguments.name)
    report.update(compare(arguments))
    print_table(report)
    run.write(report)
    slow = [(figure, most) for figure, most in zip(report["figures"], RATIOS) if figure["iterationRatio"] > most]
    for figure, most in slow:
        print(f"{figure['rows']} rows: an iteration takes {figure['iterationRatio']:.2f} of Spark ML's, not {most}")
    return 1 if arguments.fail and slow else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="logistic", help="of the file in bench/results (logistic)")
    parser.add_argument("--pes", type=int, default=2, help="executors, each with one core and 2 GB (2)")
    parser.add_argument("--repetitions", type=int, default=7, help="of which the median counts (7)")
    parser.add_argument("--warm-up", type=int, default=3, help="that do not count (3)")
    parser.add_argument("--no-build", dest="build", action="store_false", help="of what is built")
    parser.add_argument("--fail", action="store_true",
                        help="exit with 1 if an iteration takes over %s of Spark ML's, at %s rows made" % (RATIOS, ROWS))
    return parser.parse_args()


def compare(arguments):
    """What the job wrote: {master, pes, spark, java, settings, figures: [{rows, sparkMl, sparkgap, ...}]}."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "logistic.json"
        command = [str(tree_aggregate.SPARK_HOME / "bin" / "spark-submit"), "--master",
                   f"local-cluster[{arguments.pes},1,2048]", "--driver-memory", "2g",
                   "--jars", str(tree_aggregate.jar("spark-plugin"))]
        for setting in (
                "spark.plugins=io.sparkgap.SparkgapPlugin",
                f"spark.cores.max={arguments.pes}",
                "spark.executor.memory=2g",
                "spark.scheduler.minRegisteredResourcesRatio=1.0",
                "spark.ui.port=0",
                f"spark.local.dir={folder}"):
            command += ["--conf", setting]
        command += ["--class", "io.sparkgap.examples.CompareLogistic", str(tree_aggregate.jar("examples")),
                    "--json", str(result), "--rows", ",".join(map(str, ROWS)),
                    "--repetitions", str(arguments.repetitions), "--warm-up", str(arguments.warm_up)]
        log = Path(folder) / "spark.log"
        with log.open("w") as errors:
            ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=errors,
                                   env=tree_aggregate.environment(Path(folder)))
        if ended.returncode != 0:
            sys.exit(f"{' '.join(command)}\nended with {ended.returncode}:\n" + "\n".join(log.read_text().splitlines()[-40:]))
        return json.loads(result.read_text())


def print_table(report):
    print(f"\nLogistic regression on {report['pes']} executors, {report['master']}, Spark {report['spark']}")
    print(f"{'rows':>8} {'columns':>7}  {'':8} {'iterations':>10} {'ms each':>9} {'ms in all':>9} {'right':>7}")
    for figure in report["figures"]:
        for who, side in (("Spark ML", figure["sparkMl"]), ("Sparkgap", figure["sparkgap"])):
            print(f"{figure['rows']:8} {figure['features']:7}  {who:8} {side['iterations']:10} {side['iterationMillis']:9.3f} "
                  f"{side['totalMillis']:9.1f} {100 * side['accuracy']:6.2f}%")
        print(f"{'':17} ratio {'':14} {figure['iterationRatio']:9.4f} {figure['totalRatio']:9.3f}, "
              f"largest difference between two chances {figure['largestDifference']:.1e}")


if __name__ == "__main__":
    sys.exit(main())
