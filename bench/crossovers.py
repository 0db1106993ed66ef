#!/usr/bin/env python3
"""Where one route gives way to another: what the tuning tables that Sparkgap brings take, and what NCCL takes in place of
ours, as the table in the README.

    python3 bench/crossovers.py            prints it
    python3 bench/crossovers.py --write    writes it into the README
    python3 bench/crossovers.py --check    fails if the README has another
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
README = REPOSITORY / "README.md"
BEGIN, END = "<!-- bench/crossovers.py -->\n", "<!-- end -->\n"
CALLS = ["allReduce", "reduceScatter", "allGather", "broadcast", "reduce", "allToAll", "allToAllv"]
TABLES = ["host-2-pes", "host-4-pes-on-2-cpus", "nvshmem-2-h200"]
# A run of native/test/gpu/run.sh beside NCCL: ours by the selector's choice, in a graph.
NCCL_RUN = "gpu-collectives-2-h200-again.json"
UNITS = ("B", "KiB", "MiB", "GiB")


def size(count):
    unit = 0
    while count >= 1024 and unit < 3:
        count /= 1024
        unit += 1
    return f"{count:.3g} {UNITS[unit]}"


def of_table(table, call):
    """Such as "packets to 512 B, one-shot to 256 KiB, direct"; what arrays that cannot be read take comes last, and is
    left out."""
    parts = []
    for row in table["routes"].get(call, []):
        name = row["route"].split("/")[1]
        parts.append(f"`{name}`" + (f" to {size(row['bytes'])}" if "bytes" in row else ""))
        if "bytes" not in row:
            break
    return ", ".join(parts) or "one route"


def beside_nccl(run, call):
    """Of ours by NCCL's time, the better of its two ways."""
    best = defaultdict(dict)
    for row in run["results"]:
        if row["collective"] == call and row["mode"] == "graph":
            library = best[row["bytes"]]
            library[row["library"]] = min(row["us"], library.get(row["library"], row["us"]))
    ratios = {count: library["sparkgap"] / library["nccl"] for count, library in best.items() if len(library) == 2}
    if not ratios:
        return ""
    worse = [f"{size(count)} ({ratio:.2f})" for count, ratio in sorted(ratios.items()) if ratio > 1]
    text = f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f}"
    return text + (f"; NCCL is faster at {', '.join(worse)}" if worse else ", ours at every size")


def text():
    tables = [json.loads((REPOSITORY / "conf" / "tuning" / f"{name}.json").read_text()) for name in TABLES]
    measured = json.loads((REPOSITORY / "bench" / "results" / NCCL_RUN).read_text())
    run = measured["runs"][0]
    nccl = f"{run['nccl'] // 10000}.{run['nccl'] // 100 % 100}.{run['nccl'] % 100}"
    lines = [f"| | {' | '.join(f'`{name}`' for name in TABLES)} | ours beside NCCL {nccl}, in a graph |", "|---" * 5 + "|"]
    for call in CALLS:
        cells = [of_table(table, call) for table in tables]
        lines.append(f"| {call} | {' | '.join(cells)} | {beside_nccl(run, call)} |")
    lines.append("")
    for table in tables:
        about = table["about"]
        versions = f"; {about['versions']}" if "versions" in about else ""
        lines.append(f"- `{table['name']}`: {about['machine']}{versions}, {about['date']}.")
    lines.append(f"- NCCL: {measured['machine']}, commit {run['commit']}, {measured['date']}; "
                 f"`bench/results/{NCCL_RUN}`.")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if not arguments.write and not arguments.check:
        print(text(), end="")
        return
    readme = README.read_text()
    before, rest = readme.split(BEGIN)
    stands, after = rest.split(END)
    if arguments.check:
        if stands != text():
            sys.exit("The README has other crossovers than the tables: python3 bench/crossovers.py --write")
        return
    README.write_text(before + BEGIN + text() + END + after)


if __name__ == "__main__":
    main()
