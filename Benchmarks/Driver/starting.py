"""Counts the instructions of whole programs that read one password and end, with callgrind.

The loader takes many of them: it loads the libraries, and looks up each symbol that a library needs from another one.
A library that is loaded when it's first used counts in main.
"""

import os
import re
import subprocess

import instructions
from contenders import Failure
from works import C, C_PROGRAM, COLD_START, STATIC, STATIC_PROGRAM, SWIFT_PROGRAM, fill

# The programs, the first of which is the reference
PROGRAMS = {
    C_PROGRAM: C / "cold-start",
    SWIFT_PROGRAM: COLD_START / "cold-start",
    "empty Swift program, dynamic": COLD_START / "empty",
    STATIC_PROGRAM: STATIC / "cold-start",
    "empty Swift program, static": STATIC / "empty",
}


def counted(quick):
    """Returns the instructions of each part of each program, in the run with the median, and its look-ups of symbols."""
    fill(0, 1)
    answer = {}
    for name, program in PROGRAMS.items():
        runs = [parts(program) for _ in range(1 if quick else 3)]
        answer[name] = {"instructions": sorted(runs, key=sum)[len(runs) // 2], "look-ups": lookups(program)}
    return answer


def parts(program):
    """Returns the instructions of a program before, in and after main."""
    file = instructions.new_profile(f"start-{program.name}-in-{program.parents[1].name}")
    # SwiftPM names a program's main by its module.
    names = ["main", program.name.replace("-", "_") + "_main"]
    moments = [f"--dump-{when}={name}" for when in ("before", "after") for name in names]
    instructions.callgrind(file, moments, [program])
    if file.with_name(f"{file.name}.3").exists():
        raise Failure(f"{program} has two functions {' and '.join(names)}")
    # The profile without a number has what comes after the last moment.
    return [instructions.total(instructions.totals_in(f"{file}{part}")) for part in (".1", ".2", "")]


def lookups(program):
    """Returns how many symbols the loader looks up at the start of a program, and until its end."""
    run = subprocess.run([program], env={**os.environ, "LD_DEBUG": "statistics"}, text=True, capture_output=True)
    numbers = [int(number) for number in re.findall(r"number of relocations: (\d+)", run.stderr)]
    if run.returncode != 0 or not numbers:
        raise Failure(f"the loader tells nothing about {program}: {run.stderr}")
    return [numbers[0], numbers[-1]]
