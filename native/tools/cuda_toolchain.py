#!/usr/bin/env python3
"""Finds a CUDA compiler for the build, or installs one from PyPI's wheels, and prints where it is, for CMake to read.

A compiler on this machine is taken if it is new enough for every GPU that the library has code for: CUDACXX, CUDA_HOME,
nvcc on the PATH, /usr/local/cuda. Otherwise, and always for the headers of NVSHMEM and NCCL, the wheels named on the
command line are installed, once, into a directory of the build. Prints lines NAME=VALUE: NVCC, NVCC_VERSION, CUDA_HOME,
CUDA_LIBRARIES, NVSHMEM_INCLUDE, NCCL_INCLUDE.
"""

import argparse
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# The first that knows sm_100.
OLDEST_CUDA = (12, 8)


def main():
    arguments = parse_arguments()
    wheels = dict(wheel.split("==") for wheel in arguments.wheels)
    headers = {name: version for name, version in wheels.items() if "nvshmem" in name or "nccl" in name}
    compiler = machine_compiler()
    install_missing(headers if compiler else wheels, arguments.install_into)
    nvidia = arguments.install_into / "nvidia"
    home = compiler.parent.parent if compiler else next(iter(sorted(nvidia.glob("cu1[0-9]"))), None)
    nvcc = compiler or (home and home / "bin" / "nvcc")
    if nvcc is None or not nvcc.is_file():
        sys.exit(f"The wheels in {arguments.install_into} brought no nvcc. Delete that folder and run this again.")
    libraries = next((home / name for name in ("lib64", "lib") if (home / name / "libcudart_static.a").is_file()), None)
    if libraries is None:
        sys.exit(f"{home} has an nvcc but no libcudart_static.a in lib64 or lib: the CUDA toolkit there is not whole.")
    show("NVCC", nvcc)
    show("NVCC_VERSION", ".".join(map(str, version_of(nvcc) or ())))
    show("CUDA_HOME", home)
    show("CUDA_LIBRARIES", libraries)
    show("NVSHMEM_INCLUDE", nvidia / "nvshmem" / "include")
    show("NCCL_INCLUDE", nvidia / "nccl" / "include")
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--install-into", required=True, type=Path, help="directory for wheels; made if missing")
    parser.add_argument("wheels", nargs="+", metavar="NAME==VERSION")
    arguments = parser.parse_args()
    arguments.install_into = arguments.install_into.resolve()
    return arguments


def machine_compiler():
    """The first nvcc of this machine that is new enough, resolved to the folder that it really lies in; or None."""
    candidates = [os.environ.get("CUDACXX"), in_home(os.environ.get("CUDA_HOME")), shutil.which("nvcc"),
                  in_home("/usr/local/cuda")]
    for candidate in filter(None, candidates):
        nvcc = Path(candidate).resolve()
        version = version_of(nvcc)
        if version and version >= OLDEST_CUDA:
            return nvcc
        if version:
            print(f"{nvcc} is CUDA {version[0]}.{version[1]}; {OLDEST_CUDA[0]}.{OLDEST_CUDA[1]} or newer is needed",
                  file=sys.stderr)
    return None


def in_home(home):
    return f"{home}/bin/nvcc" if home else None


def version_of(nvcc):
    try:
        said = subprocess.run([str(nvcc), "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"release (\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else None


def install_missing(wheels, directory):
    installed = {distribution.name: distribution.version
                 for distribution in importlib.metadata.distributions(path=[str(directory)])}
    missing = [f"{name}=={version}" for name, version in wheels.items() if installed.get(name) != version]
    if not missing:
        return
    # The wheels lie in common folders, which pip does not update in place.
    if any(name in installed for name in wheels):
        shutil.rmtree(directory)
        missing = [f"{name}=={version}" for name, version in wheels.items()]
    result = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore",
         "--no-deps", "--no-compile", "--target", str(directory), *missing],
        capture_output=True, text=True)
    if result.returncode == 0:
        return
    if "No module named pip" in result.stderr:
        sys.exit(f"{', '.join(missing)} are installed with pip, which {sys.executable} does not have. Install it "
                 "(Debian: apt install python3-pip).")
    sys.exit(f"pip could not install {', '.join(missing)} into {directory}. Is the network there, or a mirror set in "
             f"pip's configuration? pip said:\n{result.stderr.strip()}")


def show(name, value):
    print(f"{name}={value}")


if __name__ == "__main__":
    sys.exit(main())
