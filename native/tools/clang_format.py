#!/usr/bin/env python3
"""Checks or mends the layout of the C++ and CUDA sources with one exact version of clang-format.

The version matters: each lays code out a little differently. It is the wheel of that version from PyPI, installed once
into a directory of the build.
"""

import argparse
import importlib.metadata
import os
import shlex
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("native/include", "native/src", "native/test", "native/bench", "examples/src/main/cuda")
SUFFIXES = (".h", ".cc", ".cu", ".cuh")


def main():
    arguments = parse_arguments()
    files = sources()
    program = clang_format(arguments.version, arguments.install_into)
    if arguments.action == "apply":
        run(program + ["-i"] + [str(file) for file in files])
        print(f"clang-format {arguments.version}: {len(files)} files laid out")
        return 0
    wrong = [file for file in files if not is_laid_out(program, file)]
    if not wrong:
        print(f"clang-format {arguments.version}: {len(files)} files are laid out as they should be")
        return 0
    print(f"clang-format {arguments.version} would change {len(wrong)} of {len(files)} files:", file=sys.stderr)
    for file in wrong:
        print(f"  {shown(file)}", file=sys.stderr)
    print(f"Mend them with:\n  {mending_command(arguments)}", file=sys.stderr)
    return 1


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="of the clang-format wheel, for example 1.2.3")
    parser.add_argument("--install-into", required=True, type=Path, help="directory for the wheel; made if missing")
    parser.add_argument("action", choices=("check", "apply"))
    return parser.parse_args()


def sources():
    return sorted(
        file
        for folder in FOLDERS
        for file in (REPOSITORY / folder).rglob("*")
        if file.suffix in SUFFIXES and file.is_file()
    )


def clang_format(version, directory):
    """The command that starts clang-format of this version; installs it if the directory does not hold it."""
    if installed_version(directory) != version:
        install(version, directory)
    program = directory / "clang_format" / "data" / "bin" / "clang-format"
    if not program.is_file():
        sys.exit(f"clang-format {version} from PyPI has no {program}. Delete {directory} and run this again.")
    return [str(program)]


def installed_version(directory):
    found = importlib.metadata.distributions(name="clang-format", path=[str(directory)])
    return next((distribution.version for distribution in found), None)


def install(version, directory):
    result = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore",
         "--upgrade", "--target", str(directory), f"clang-format=={version}"],
        capture_output=True, text=True)
    if result.returncode == 0:
        return
    if "No module named pip" in result.stderr:
        sys.exit(f"clang-format {version} is installed with pip, which {sys.executable} does not have. Install it "
                 "(Debian: apt install python3-pip).")
    sys.exit(f"pip could not install clang-format {version} into {directory}. Is the network there, or a mirror set in "
             f"pip's configuration? pip said:\n{result.stderr.strip()}")


def is_laid_out(program, file):
    result = subprocess.run(program + ["--dry-run", "-Werror", str(file)], capture_output=True, text=True)
    if result.returncode != 0 and "clang-format-violations" not in result.stderr:
        sys.exit(f"clang-format failed on {shown(file)}:\n{result.stderr.strip()}")
    return result.returncode == 0


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"clang-format failed:\n{result.stderr.strip()}")


def mending_command(arguments):
    return shlex.join(["python3", shown(Path(__file__)), "--version", arguments.version,
                       "--install-into", shown(arguments.install_into), "apply"])


def shown(path):
    return os.path.relpath(path)


if __name__ == "__main__":
    sys.exit(main())
