"""The driver of Scripts/benchmark. That script describes the benchmarks.

  Driver works                                prints the names of all works
  Driver collection WORK [--quick]            writes the collection that a work begins with to a file, if
                                              it has one, and prints the file's path
  Driver measure WORK FILE [--quick]          measures one work in a private session, and writes its times
                                              to a file
  Driver report DIRECTORY WORK ... [--quick]  prints the tables of works that were measured
  Driver count [--runs N] [OPERATION ...]     measures some operations in a private session, or all of them, with
                                              callgrind and strace, and prints a table
  Driver check [--update] [OPERATION ...]     compares the instructions with the recorded ones, or records them
  Driver write DIRECTORY LOAD                 writes the tables of all works to the report, and the chart
  Driver fleet LOAD [--quick]                 measures the storage of a fleet on a private cluster, prints its
                                              tables, and writes them and the plot unless it's quick
"""

import json
import os
import pathlib
import subprocess
import sys

import chart
import fleet
import fleet_report
import instructions
import machine
import measuring
import pending
import record
import report
import sample_collection
import starting
from contenders import Failure
from works import REPOSITORY, WORKS

NAMES = [*WORKS, "starting", "pending", "instructions"]


def measure(name, file, *options):
    quick = "--quick" in options
    if name == "instructions":
        result = instructions.measured(instructions.OPERATIONS, 1 if quick else 3)
    elif name == "starting":
        result = starting.counted(quick)
    elif name == "pending":
        result = pending.counted(quick)
    else:
        result = measuring.measured(WORKS[name], quick)
    pathlib.Path(file).write_text(json.dumps(result))


def collection(name, *options):
    work = WORKS.get(name)
    if work and work.collection:
        print(sample_collection.written(name, 10 if "--quick" in options else work.collection))


def results(directory, names):
    return {name: json.loads((pathlib.Path(directory) / f"{name}.json").read_text()) for name in names}


def show(directory, *names):
    quick = "--quick" in names
    measured = results(directory, [name for name in names if name != "--quick"])
    # One or two rounds aren't enough to judge whether a target is reached.
    lines = [] if quick else report.of_targets(measured)
    print("\n".join(lines + report.tables(measured)))


def write(directory, load):
    measured = results(directory, NAMES)
    benchmarks = REPOSITORY / "Benchmarks"
    (benchmarks / "REPORT.md").write_text(report.report(measured, machine.description(load)))
    (benchmarks / "REPORT.svg").write_text(chart.chart(measured))


def fleet_tables(load, *options):
    measured = fleet.measured("--quick" in options)
    print("\n".join(fleet_report.tables(measured)))
    if not options:
        benchmarks = REPOSITORY / "Benchmarks"
        about = machine.description(load, machine.FLEET_PACKAGES)
        (benchmarks / "FLEET.md").write_text(fleet_report.report(measured, about))
        (benchmarks / "FLEET.svg").write_text(fleet_report.plot(measured))


def count(*arguments):
    runs = 3
    if arguments[:1] == ("--runs",):
        runs, arguments = int(arguments[1]), arguments[2:]
    for name in arguments or instructions.OPERATIONS:
        print("\n".join(report.of_counts(instructions.measured([name], runs))), flush=True)


def keyring_is_there():
    call = ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
            "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.NameHasOwner",
            "org.freedesktop.secrets"]
    return "true" in subprocess.run(call, text=True, capture_output=True).stdout


def main(command, *arguments):
    match command:
        case "works": print(*NAMES)
        case "collection": collection(*arguments)
        case "measure": measure(*arguments)
        case "count": count(*arguments)
        case "check": sys.exit(record.check(*arguments))
        case "report": show(*arguments)
        case "write": write(*arguments)
        case "fleet": fleet_tables(*arguments)


try:
    main(*sys.argv[1:])
except Failure as failure:
    print(f"benchmark: {failure}", file=sys.stderr)
    sys.exit(1 if keyring_is_there() else os.EX_TEMPFAIL)
