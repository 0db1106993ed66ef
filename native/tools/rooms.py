#!/usr/bin/env python3
"""Fails if an include of native/src runs up: a file includes its own room and those below it, and nothing else.

The rooms, lowest first, are the ones that docs/architecture.md draws. Rooms of one line lie beside each other, and none
of them includes another. A room is a folder, or the files of that name; the longest name counts.
"""

import re
import sys
from pathlib import Path

ROOMS = """
base
description
cuda                                       protocol
wire
reduce                                     select
provider
provider/host                              provider/device
provider/nccl                              provider/nvshmem
protocol/nodes
collective
engine
engine/host                                engine/device
engine/nodes
engine/device/cuda
engine/engines
world
sparkgap
"""

SOURCE = Path(__file__).resolve().parent.parent / "src"
SUFFIXES = (".h", ".cc", ".cu", ".cuh")
# What users include too is below all, and includes nothing else.
PUBLIC = SOURCE.parent / "include"
MOST_LINES = 400
# One long table.
LONG = ("reduce/kernels.cc",)


def main():
    heights = {room: height for height, line in enumerate(ROOMS.strip().splitlines()) for room in line.split()}
    files = sorted(file for file in SOURCE.rglob("*") if file.suffix in SUFFIXES)
    problems = []
    for file in files:
        name = file.relative_to(SOURCE).as_posix()
        text = file.read_text()
        if "/" not in name and room_of(name, heights) != "sparkgap":
            problems.append(f"{name} lies loose: only the C interface does")
        problems += look_at_length(name, text)
        for included in includes_of(text):
            if not (PUBLIC / included).is_file():
                problems += look_at(name, included, heights)
    public = sorted(file for file in PUBLIC.rglob("*") if file.suffix in SUFFIXES)
    for file in public:
        name = file.relative_to(PUBLIC).as_posix()
        text = file.read_text()
        problems += look_at_length(name, text)
        for included in includes_of(text):
            if not (PUBLIC / included).is_file():
                problems.append(f'{name} includes "{included}", which is not in native/include')
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(files)} files and {len(public)} public ones in {len(heights)} rooms, {len(problems)} problems")
    return 1 if problems else 0


def includes_of(text):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.MULTILINE)


def look_at_length(name, text):
    if len(text.splitlines()) <= MOST_LINES or name in LONG:
        return []
    return [f"{name} has more than {MOST_LINES} lines: cut it by what it does"]


def look_at(name, included, heights):
    if not (SOURCE / included).is_file():
        return [f'{name} includes "{included}", which is no path from native/src']
    here = room_of(name, heights)
    there = room_of(included, heights)
    if here is None or there is None or here == there or heights[there] < heights[here]:
        return [] if here and there else [f"{name if here is None else included} is in no room: list it in {__file__}"]
    direction = "up" if heights[there] > heights[here] else "aside"
    return [f'{name} includes "{included}", {direction} from {here} to {there}']


def room_of(name, heights):
    """The room with the longest name that the file's path begins with."""
    path = name.rsplit(".", 1)[0]
    rooms = [room for room in heights if path == room or path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


if __name__ == "__main__":
    sys.exit(main())
