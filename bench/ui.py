#!/usr/bin/env python3
"""Measures what the first page of the tab "Sparkgap" takes, for an application with many worlds and calls.

See README.md for what is measured.
"""

import argparse
import json
import os
import sys

import run
import world


def main():
    arguments = parse_arguments()
    measured = json.loads(run.output(
        world.java_command("io.sparkgap.bench.UiBench", arguments.worlds, arguments.calls)).splitlines()[-1])
    print(f"First page for {measured['worlds']} worlds and {measured['calls']} calls a PE, {measured['bytes']} bytes: "
          f"{measured['first_ms']:.0f} ms, when it has been asked for before {measured['last_ms']:.0f} ms")
    run.write({**run.provenance(arguments.name), **measured})
    return 1 if arguments.fail and measured["first_ms"] > arguments.limit else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="ui", help="of the file in bench/results (ui)")
    parser.add_argument("--worlds", type=int, default=200, help="worlds that the application makes (200)")
    parser.add_argument("--calls", type=int, default=1000000, help="calls that each PE makes in all (1000000)")
    parser.add_argument("--limit", type=float, default=1000, help="ms that the page may take (1000)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if it takes longer")
    return parser.parse_args()


if __name__ == "__main__":
    os.chdir(run.REPOSITORY / "spark-plugin")
    sys.exit(main())
