"""The driver of Scripts/benchmark. That script describes the benchmarks.

  Driver names                          prints the names of all operations
  Driver measure NAME FILE [--quick]    measures an operation in a private session, and writes its figures to a file
  Driver report DIRECTORY NAME ...      prints the tables of operations that were measured
  Driver write DIRECTORY LOAD           writes the tables of all operations to the report, and the chart
  Driver check [--update] [--files] [NAME ...]
                                        compares the instructions with the recorded ones, or records them
  Driver fleet LOAD [--quick]           measures the storage of a fleet on a private cluster, prints its tables, and
                                        writes them unless it's quick
"""

import json
import pathlib
import sys

import chart
import curves
import figures
import fleet
import fleet_report
import machine
import record
import report
from contenders import Failure
from operations import ALL, REPOSITORY

BENCHMARKS = REPOSITORY / "Benchmarks"
NAMES = [*ALL, *curves.CURVES]


def results(directory, names):
    return {name: json.loads((pathlib.Path(directory) / f"{name}.json").read_text()) for name in names}


def measured(name, quick):
    return (curves if name in curves.CURVES else figures).measured(name, quick)


def tables(measured):
    return [
        line for name, found in measured.items()
        for line in (curves.of_curve if name in curves.CURVES else report.of_operation)(name, found)]


def write(directory, load):
    measured = results(directory, NAMES)
    lines = tables(measured)
    (BENCHMARKS / "REPORT.md").write_text(report.report(report.HEAD, lines, machine.description(load)))
    (BENCHMARKS / "REPORT.svg").write_text(chart.chart(measured))


def measure_fleet(load, *options):
    tables = fleet_report.tables(fleet.measured("--quick" in options))
    print("\n".join(tables))
    if not options:
        about = machine.description(load, machine.FLEET_PACKAGES)
        (BENCHMARKS / "FLEET.md").write_text(report.report(fleet_report.HEAD, tables, about))


def main(command, *arguments):
    match command:
        case "names": print(*NAMES)
        case "measure":
            name, file, *options = arguments
            pathlib.Path(file).write_text(json.dumps(measured(name, "--quick" in options)))
        case "report": print("\n".join(tables(results(arguments[0], arguments[1:]))))
        case "write": write(*arguments)
        case "check": sys.exit(record.check(*arguments))
        case "fleet": measure_fleet(*arguments)


try:
    main(*sys.argv[1:])
except Failure as failure:
    sys.exit(f"benchmark: {failure}")
