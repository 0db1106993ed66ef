#!/usr/bin/env python3
"""Measures what `sparkgap submit` adds to, and takes from, plain spark-submit, on a cluster of this machine.

Starts a standalone cluster, or a YARN in one process, and takes turns on it. See README.md for what is measured.
"""

import argparse
import contextlib
import os
import re
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import run

SPARK = run.REPOSITORY / "launcher" / "spark-home" / "target" / "spark"
SPARKGAP = run.REPOSITORY / "launcher" / "bin" / "sparkgap"
MINI_YARN = run.REPOSITORY / "launcher" / "cluster-tests" / "bin" / "mini-yarn"
APPLICATION = run.REPOSITORY / "launcher" / "target" / "sparkgap-launcher-tests.jar"
MAIN = "io.sparkgap.launcher.application.TestApplication"
SLOT_CHECK = "spark.scheduler.barrier.maxConcurrentTasksCheck"
PATIENCE_SECONDS = 300
END_SECONDS = 60


def main():
    arguments = parse_arguments()
    if not arguments.no_build:
        run.step(["mvn", "-B", "-q", "-f", str(run.REPOSITORY), "package", "-DskipTests", "-Dnative.tests=OFF"])
    report = {
        **run.provenance(arguments.name),
        "pes": arguments.pes,
        "clusters": {},
    }
    over = []
    for kind in arguments.clusters:
        with CLUSTERS[kind]() as (options, environment):
            measured = measure(options, environment, arguments)
        report["clusters"][kind] = measured
        over += print_table(kind, measured, arguments)
    run.write(report)
    for what in over:
        print(f"Over its limit: {what}")
    return 1 if over and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="submit", help="of the file in bench/results (submit)")
    parser.add_argument("--clusters", nargs="+", choices=sorted(CLUSTERS), default=sorted(CLUSTERS),
                        help="what to start (standalone yarn)")
    parser.add_argument("--pes", type=int, default=2, help="PEs, each an executor of one core (2)")
    parser.add_argument("--rounds", type=int, default=5, help="turns that each gets (5)")
    parser.add_argument("--more-limit", type=float, default=2, help="s that it may take more, median (2)")
    parser.add_argument("--saved-limit", type=float, default=15, help="s that it has to save where the slot check bites (15)")
    parser.add_argument("--refused-limit", type=float, default=5, help="s that a refusal may take, median (5)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a limit is passed")
    parser.add_argument("--no-build", action="store_true", help="measure what is built")
    return parser.parse_args()


def measure(options, environment, arguments):
    """Seconds of every turn: {sparkgap, plain, sparkgap_own_stage, plain_own_stage, refused}."""
    pes = str(arguments.pes)
    sparkgap = [str(SPARKGAP), "submit", *options, "--pes", pes, "--executor-memory", "512m", "--class", MAIN]
    plain = plain_command(sparkgap, environment)
    # What Spark does by itself: it looks for slots every 15 s, and starts before its executors are there.
    bitten = without(plain, ["spark.scheduler.", "spark.sparkgap.slots.timeout"])
    bitten += ["--conf", f"{SLOT_CHECK}.interval=15s"]
    never = [str(SPARKGAP), "submit", *options, "--pes", "200", "--class", MAIN, str(APPLICATION), "200", "sum"]
    turns = {
        "sparkgap": lambda: until_sum([*sparkgap, str(APPLICATION), pes, "sum"], environment),
        "plain": lambda: until_sum([*plain, str(APPLICATION), pes, "sum"], environment),
        "sparkgap_own_stage": lambda: until_sum([*sparkgap, str(APPLICATION), pes, "own-stage"], environment),
        "plain_own_stage": lambda: until_sum([*bitten, str(APPLICATION), pes, "own-stage"], environment),
        "refused": lambda: until_refused(never, environment),
    }
    seconds = {what: [] for what in turns}
    for turn in range(arguments.rounds + 1):
        for what, take in turns.items():
            took = take()
            if turn > 0:  # the first finds files that are not cached yet
                seconds[what].append(round(took, 2))
    return seconds


def plain_command(sparkgap, environment):
    """spark-submit with the settings that sparkgap makes, but without the application."""
    result = subprocess.run([*sparkgap, "--dry-run", str(APPLICATION)], capture_output=True, text=True,
                            env={**os.environ, **environment}, timeout=PATIENCE_SECONDS)
    if result.returncode != 0:
        sys.exit(f"{' '.join(sparkgap)} --dry-run failed:\n{result.stderr}")
    words = shlex.split(result.stdout)[:-1]
    return without(words, ["spark.sparkgap.events", "spark.yarn.tags"])


def without(words, prefixes):
    """The words without `--conf KEY=VALUE` where KEY begins so."""
    kept, skip = [], False
    for word, following in zip(words, [*words[1:], ""]):
        if skip:
            skip = False
        elif word == "--conf" and following.startswith(tuple(prefixes)):
            skip = True
        else:
            kept.append(word)
    return kept


def until_sum(command, environment):
    """Seconds until the application says what its first collective gave."""
    start = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   env={**os.environ, **environment})
        try:
            took = None
            for line in process.stdout:
                if line.startswith("sum "):
                    took = time.monotonic() - start
            process.wait(PATIENCE_SECONDS)
        finally:
            end(process)
        if took is None or process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(command)} failed with {process.returncode}:\n{errors.read()}")
    return took


def end(process):
    """As a user would, so that it ends its driver and executors, which a SIGKILL would leave running."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def until_refused(command, environment):
    start = time.monotonic()
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment},
                            timeout=PATIENCE_SECONDS)
    if result.returncode != 3:
        sys.exit(f"{' '.join(command)} ended with {result.returncode}, and not with 3:\n{result.stderr}")
    return time.monotonic() - start


def print_table(kind, seconds, arguments):
    print(f"\n{kind}, {arguments.pes} PEs, s, median of {arguments.rounds}")
    medians = {what: statistics.median(times) for what, times in seconds.items()}
    more = medians["sparkgap"] - medians["plain"]
    saved = medians["plain_own_stage"] - medians["sparkgap_own_stage"]
    print(f"  to the first collective   sparkgap submit {medians['sparkgap']:6.2f}   spark-submit {medians['plain']:6.2f}"
          f"   more {more:6.2f} (at most {arguments.more_limit:g})")
    print(f"  the same where Spark's slot check bites   {medians['sparkgap_own_stage']:6.2f}"
          f"                {medians['plain_own_stage']:6.2f}   less {saved:6.2f} (at least {arguments.saved_limit:g})")
    print(f"  a refusal                                 {medians['refused']:6.2f}   (at most {arguments.refused_limit:g})")
    over = []
    if more > arguments.more_limit:
        over.append(f"{kind}, what sparkgap submit takes more")
    if saved < arguments.saved_limit:
        over.append(f"{kind}, what sparkgap submit saves")
    if medians["refused"] > arguments.refused_limit:
        over.append(f"{kind}, a refusal")
    return over


@contextlib.contextmanager
def standalone():
    """A master and two workers. Gives the options that name it and what its clients need in their environment."""
    port, pages = free_port(), free_port()
    environment = {"SPARK_HOME": str(SPARK), "SPARK_SCALA_VERSION": run.property_of_pom("scala.binary.version"),
                   "SPARK_LOCAL_IP": "127.0.0.1"}
    master = f"spark://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory(dir=run.REPOSITORY / "launcher" / "target") as folder:
        processes = []
        try:
            for arguments in (["master.Master", "--port", str(port), "--webui-port", str(pages)],
                              *[["worker.Worker", "--cores", "2", "--memory", "2g", "--webui-port", "0",
                                 "--work-dir", folder, master]] * 2):
                processes.append(daemon(arguments, environment))
            await_workers(pages, 2)
            yield ["--master", master, "--conf", f"spark.master.ui.port={pages}"], {"SPARK_LOCAL_IP": "127.0.0.1"}
        finally:
            for process in reversed(processes):
                end(process)


def daemon(arguments, environment):
    return subprocess.Popen(["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", f"{SPARK}/jars/*",
                             f"org.apache.spark.deploy.{arguments[0]}", "--host", "127.0.0.1", *arguments[1:]],
                            env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def await_workers(pages, count):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            connection = socket.create_connection(("127.0.0.1", pages), timeout=2)
            with connection:
                connection.sendall(b"GET /json/ HTTP/1.0\r\n\r\n")
                answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
            if re.search(rf'"aliveworkers"\s*:\s*{count}\b', answer):
                return
        time.sleep(0.2)
    sys.exit("the standalone cluster did not come up")


@contextlib.contextmanager
def yarn():
    """Hadoop's YARN with two node managers in one process."""
    process = subprocess.Popen([str(MINI_YARN)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    try:
        environment = {}
        while len(environment) < 2:
            line = process.stdout.readline()
            if not line:
                sys.exit(f"{MINI_YARN} did not come up; run it alone to see why")
            if line.startswith("export "):
                key, _, value = line.removeprefix("export ").strip().partition("=")
                environment[key] = value
        yield ["--master", "yarn"], environment
    finally:
        process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_SECONDS)
        end(process)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


CLUSTERS = {"standalone": standalone, "yarn": yarn}

if __name__ == "__main__":
    sys.exit(main())
