"""Counts the instructions of each operation with callgrind.

A contender performs some operations, and then those that count, between two marks. Callgrind writes a profile at
each mark, so that nothing else is counted. It counts all threads of a process, and so GDBus's, too. The number
hardly depends on the machine, or on what else runs there.
"""

import os
import subprocess

from contenders import Failure
from operations import BUILD, OPERATIONS

# The profiles stay in this directory, for callgrind_annotate and kcachegrind.
PROFILES = BUILD / "benchmarks/profiles"

# The function that a contender calls before and after the operations.
MARK = "getppid"


def counting(command):
    """Returns the command with which a contender performs operations between two marks."""
    return [command[0], "count", *command[1:]]


def count(name, contender):
    """Returns the instructions of one use."""
    operation = OPERATIONS[name]
    command = counting(operation.contenders[contender])
    PROFILES.mkdir(parents=True, exist_ok=True)
    file = PROFILES / "-".join([name, *command[0].parts[-2:], command[2]])
    for old in PROFILES.glob(f"{file.name}*"):
        old.unlink()
    # Without this, the order of Swift's tables is different in each process.
    environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={file}", f"--dump-before={MARK}",
         without_debug_information(command[0]), *command[1:]],
        input=f"{operation.warm}\n{operation.counted}\n", text=True, capture_output=True, env=environment)
    if run.returncode != 0:
        raise Failure(f"{command} under valgrind: {run.stderr}")
    # There is a profile for each mark, and the last one has what came before the last mark.
    with open(f"{file}.4") as lines:
        return total(lines) / operation.counted / operation.uses


def total(lines):
    """Returns the instructions in a profile, which the manual of valgrind describes."""
    for line in lines:
        if line.startswith("totals: "):
            return int(line.split()[1])
    raise Failure("a profile has no totals")


def without_debug_information(program):
    """Returns a copy of the program without debug information.

    valgrind 3.19 can't read the debug information that clang writes about the C code of other packages.
    """
    copy = PROFILES / program.relative_to(BUILD)
    copy.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
    return copy
