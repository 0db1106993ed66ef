#!/usr/bin/env python3
"""Measures what an executor does at its start to learn whether it has a wire to other hosts: libfabric is loaded, asked for its
tcp, and listens for a moment. In processes that have not loaded it before; the median of them.
"""

import argparse
import ctypes
import json
import statistics
import sys
import time

import run

PROCESSES = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="wire-probe", help="of the file in bench/results (wire-probe)")
    parser.add_argument("--library", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.library:
        return print(json.dumps(probe(arguments.library)))
    run.build()
    library = str(run.BUILD / "lib" / "libsparkgap.so")
    probes = [json.loads(run.output([sys.executable, __file__, "--library", library])) for _ in range(PROCESSES)]
    report = {what: round(statistics.median(one[what] for one in probes), 2) for what in ("wall_ms", "cpu_ms")}
    print(f"{probes[0]['found']}: {report['wall_ms']} ms, {report['cpu_ms']} ms of them on a CPU")
    run.write({**run.provenance(arguments.name), "found": probes[0]["found"], **report, "all": probes})


def probe(path):
    library = ctypes.CDLL(path)
    message = ctypes.create_string_buffer(1024)
    wall, cpu = time.perf_counter(), time.process_time()
    status = library.sparkgap_wire_probe(b"auto", b"127.0.0.1", b"", b"", message, ctypes.c_uint64(len(message)))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if status != 0:
        sys.exit(message.value.decode())
    # A result is kept: it says which library of the build that was, not where this machine has it.
    found = message.value.decode().replace(f"{run.REPOSITORY}/", "")
    return {"found": found, "wall_ms": wall * 1e3, "cpu_ms": cpu * 1e3}


if __name__ == "__main__":
    sys.exit(main())
