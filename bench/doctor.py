#!/usr/bin/env python3
"""Measures how long `sparkgap doctor` takes: on this machine, and on executors beside an application that does next to nothing.

See README.md for what is measured.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import run
import submit

MASTER = "local-cluster[2,1,1024]"


def main():
    arguments = parse_arguments()
    if not arguments.no_build:
        run.step(["mvn", "-B", "-q", "-f", str(run.REPOSITORY), "package", "-DskipTests", "-Dnative.tests=OFF"])
    doctor = [str(submit.SPARKGAP), "doctor"]
    application = [str(submit.SPARKGAP), "submit", "--master", MASTER, "--class", submit.MAIN, str(submit.APPLICATION), "2", "sum"]
    turns = {"here": doctor, "executors": [*doctor, "--master", MASTER], "application": application}
    seconds = {what: [] for what in turns}
    for turn in range(arguments.rounds + 1):
        for what, command in turns.items():
            took = seconds_of(command)
            if turn > 0:  # the first finds files that are not cached yet
                seconds[what].append(round(took, 2))
    median = {what: statistics.median(took) for what, took in seconds.items()}
    more = median["executors"] - median["application"]
    run.write({**run.provenance(arguments.name), "master": MASTER, "seconds": seconds, "more": round(more, 2)})
    print(f"doctor on this machine {median['here']:.2f} s; on executors {median['executors']:.2f} s, {more:+.2f} s beside an "
          f"application of one all-reduce ({median['application']:.2f} s)")
    over = median["here"] > arguments.here_limit or more > arguments.more_limit
    return 1 if over and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="doctor", help="of the file in bench/results (doctor)")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each gets (3)")
    parser.add_argument("--here-limit", type=float, default=2, help="s that it may take here, median (2)")
    parser.add_argument("--more-limit", type=float, default=5, help="s that it may take more than an application (5)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a limit is passed")
    parser.add_argument("--no-build", action="store_true", help="measure what is built")
    return parser.parse_args()


def seconds_of(command):
    """From its start to its end. The doctor may find something wrong with this machine, which takes as long."""
    start = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True, timeout=submit.PATIENCE_SECONDS)
    took = time.monotonic() - start
    if result.returncode not in (0, 8):
        sys.exit(f"{' '.join(command)} failed with {result.returncode}:\n{result.stderr}")
    return took


if __name__ == "__main__":
    os.environ.pop("SPARK_HOME", None)
    sys.exit(main())
