#!/usr/bin/env python3
"""Brings what the wire is built with: libfabric's headers, and the library that goes into the jar.

The headers are this machine's (Debian: libfabric-dev) if it has them; otherwise Debian's package is downloaded and unpacked
into a folder of the build, which needs no root. The library, and its licence, are taken out of a wheel of PyPI: MPICH's, which
brings a libfabric that needs nothing but glibc 2.27. Prints lines NAME=VALUE, for CMake to read: FABRIC_INCLUDE,
FABRIC_LIBRARY, FABRIC_LICENSE.
"""

import argparse
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

LIBRARY = "libfabric.so.1"
LICENSE = "LICENSE.ofi"
PACKAGE = "libfabric-dev"


def main():
    arguments = parse_arguments()
    folder = arguments.install_into.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    print(f"FABRIC_INCLUDE={headers(folder)}")
    library, license_text = from_wheel(arguments.wheel, folder)
    print(f"FABRIC_LIBRARY={library}")
    print(f"FABRIC_LICENSE={license_text}")
    return 0


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install-into", required=True, type=Path, help="folder of the build; made if missing")
    parser.add_argument("--wheel", required=True, metavar="NAME==VERSION", help="the wheel with the library")
    return parser.parse_args()


def headers(folder):
    for include in (Path("/usr/include"), Path("/usr/local/include"), folder / "headers/usr/include"):
        if (include / "rdma/fi_rma.h").is_file():
            return include
    unpacked = folder / "headers"
    try:
        subprocess.run(["apt-get", "download", "-qq", PACKAGE], cwd=folder, check=True, capture_output=True, text=True)
        package = next(iter(sorted(folder.glob(f"{PACKAGE}_*.deb"))))
        subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True, capture_output=True, text=True)
        package.unlink()
    except (OSError, subprocess.CalledProcessError, StopIteration) as problem:
        said = (getattr(problem, "stderr", None) or str(problem)).strip()
        fail("no libfabric headers (rdma/fi_rma.h) on this machine. Install them: "
             f"apt install {PACKAGE} (Debian, Ubuntu), dnf install libfabric-devel (Fedora). Downloading {PACKAGE} failed: {said}")
    return unpacked / "usr/include"


def from_wheel(wheel, folder):
    """The library and its licence, once for each version of the wheel."""
    own = folder / wheel
    library, license_text = own / LIBRARY, own / LICENSE
    if library.is_file() and license_text.is_file():
        return library, license_text
    own.mkdir(parents=True, exist_ok=True)
    result = subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                             "--only-binary=:all:", "--dest", str(own), wheel], capture_output=True, text=True)
    if result.returncode != 0:
        if "No module named pip" in result.stderr:
            fail(f"{wheel} is downloaded with pip, which {sys.executable} does not have. Install it (Debian: apt install "
                 "python3-pip).")
        fail(f"pip could not download {wheel}. Is the network there, or a mirror set in pip's configuration? pip said:\n"
             f"{result.stderr.strip()}")
    file = next(iter(own.glob("*.whl")))
    with zipfile.ZipFile(file) as packed:
        take(packed, LICENSE, license_text)
        take(packed, LIBRARY, library)
    file.unlink()
    return library, license_text


def fail(what):
    """Begins as a compiler's errors do: `sparkgap demo` shows such lines of a build that failed."""
    sys.exit(f"fabric.py: error: {what}")


def take(packed, name, to):
    found = [entry for entry in packed.namelist() if entry.rsplit("/", 1)[-1] == name]
    if len(found) != 1:
        fail(f"{packed.filename} has {len(found)} files {name}, not one.")
    partial = to.with_suffix(".partial")
    with packed.open(found[0]) as source, open(partial, "wb") as target:
        shutil.copyfileobj(source, target)
    partial.rename(to)


if __name__ == "__main__":
    sys.exit(main())
