"""Compares the instructions of each operation with recorded ones.

On a keyring, it's the ratio to the C calls that do the same work in the same run. In the process, it's the number.
Both hold only for the compiler, the libraries and the processor that the record names.
"""

import json
import platform
import statistics
import subprocess

import instructions
from contenders import Failure
from operations import ON_FILES, ON_KEYRING, OPERATIONS, REPOSITORY

FILE = REPOSITORY / "Benchmarks/instructions.json"

# A figure may be above its record by this.
TOLERANCE = 0.02

EXTENSIONS = ["adx", "aes", "avx", "avx2", "bmi2", "erms", "movbe", "pclmulqdq"]

# A wakeup more than usual adds instructions to either side of a ratio, so a figure that is too high is counted again.
RUNS = 3

NAMES = list(OPERATIONS)


def check(*arguments):
    """Prints each figure beside its record, and returns the status of the program."""
    options = {argument for argument in arguments if argument.startswith("--")}
    updates = "--update" in options
    names = [argument for argument in arguments if argument not in options] or [
        name for name in NAMES if name not in ON_FILES or "--files" in options]
    if unknown := set(names).difference(NAMES):
        raise Failure(f"the record has no {', '.join(unknown)}")
    recorded = json.loads(FILE.read_text()) if FILE.exists() else {"made with": {}, "figures": {}}
    here = made_with()
    differences = [what for what in here if recorded["made with"].get(what) != here[what]]
    is_comparable = not differences
    if updates and differences and set(names) != set(NAMES):
        raise Failure(f"the other figures were made with other {', '.join(differences)}: record all of them")
    above = []
    for name in names:
        operation = OPERATIONS[name]
        most = recorded["figures"].get(name)
        found, all_runs = figure(operation, name, None if updates or not is_comparable else most)
        runs = " ".join(map(shown, all_runs))
        print(f"{name:14}{shown(found):>12}, recorded {shown(most) if most else 'never'}, runs {runs}", flush=True)
        if updates:
            recorded["figures"][name] = round(found, 4 if name in ON_KEYRING else 1)
        elif is_comparable and (most is None or found > most * (1 + TOLERANCE)):
            above.append(name)
    if updates:
        FILE.write_text(json.dumps({"made with": here, "figures": recorded["figures"]}, indent=2) + "\n")
        return 0
    for what in differences:
        print(f"The record was made with other {what}: {recorded['made with'].get(what)}, not {here[what]}.")
    for name in above:
        print(f"The operation {name} takes more instructions than recorded, by more than {TOLERANCE:.0%}.")
    if above:
        print("If that is meant, record it with .ci/check-instructions --update, and give the reason in the commit.")
    return 1 if above else 0


def figure(operation, name, most):
    """Returns the ratio to C, or the number of instructions, and those of each run.

    Without a maximum, all runs take place, and the median counts. With one, they end with the first that doesn't exceed
    it. Otherwise the lowest counts.
    """
    operation.prepare()
    ours = next(iter(operation.contenders))
    runs = []
    for _ in range(RUNS):
        own, other = [
            instructions.count(name, contender) if contender else 1
            for contender in (ours, operation.reference if name in ON_KEYRING else "")]
        runs.append(own / other)
        if most is not None and runs[-1] <= most * (1 + TOLERANCE):
            break
    return (min if most else statistics.median)(runs), runs


def shown(figure):
    return f"{figure:.3f}" if figure < 10 else f"{figure:,.0f}"


def made_with():
    """Returns what the figures depend on."""
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=True).stdout
    versions = [
        f"{name} " + subprocess.run(
            ["pkg-config", "--modversion", name], capture_output=True, text=True, check=True).stdout.strip()
        for name in ("libsecret-1", "glib-2.0")]
    return {"compilers": swift.splitlines()[0], "libraries": ", ".join(versions), "processors": processor()}


def processor():
    """Returns the architecture, and the extensions that valgrind has and that code is chosen by."""
    with open("/proc/cpuinfo") as lines:
        flags = next((line.split() for line in lines if line.startswith("flags")), [])
    return " ".join([platform.machine(), *(flag for flag in EXTENSIONS if flag in flags)])
