"""Measures how operations grow with the number of lines, items, properties or keys.

Nothing of this library may grow faster than the number. gnome-keyring's own time is beside it.
"""

import dataclasses
import pathlib
import re
import subprocess

from contenders import Failure, Worker
from fleet import processor_time
from operations import SWIFT, TEMPORARY, fill, swift
from report import amount, table


@dataclasses.dataclass(frozen=True)
class Curve:
    title: str
    unit: str
    sizes: list
    prepare: object = None  # what a size needs in the keyring, or nothing without a keyring
    is_of_file: bool = False


def fill_up(count):
    """Stores the passwords of some accounts, and keeps those that there are: removing many takes gnome-keyring long."""
    subprocess.run([SWIFT, "fill", str(count)], check=True)


# The curves by the names of their works.
CURVES = {
    "import-dry-run": Curve("Import, dry run", "lines", [1_000, 4_000, 16_000], is_of_file=True),
    "import-to-memory": Curve("Import into memory", "lines", [1_000, 4_000, 16_000], is_of_file=True),
    "import-to-keyring": Curve("Import into gnome-keyring", "lines", [250, 1_000], lambda _: fill(0), True),
    "properties": Curve("SecureProperties.readAll()", "properties", [50, 100, 200], fill_up),
    "query": Curve("All items of a service", "items", [400, 3_000], fill_up),
    "tracking": Curve("Track properties, and change each", "keys", [1_000, 2_500, 10_000]),
}


def measured(name, quick):
    """Returns the figures of each size."""
    return [point(name, size) for size in CURVES[name].sizes[:1 if quick else None]]


def point(name, size):
    curve = CURVES[name]
    if curve.prepare:
        curve.prepare(size)
    worker = Worker(name, swift(name, lines(size) if curve.is_of_file else size))
    # A second import of the same lines would write nothing.
    worker.measure(0 if curve.is_of_file else 1)
    processes = [worker.process.pid, *([daemon()] if curve.prepare else [])]
    before = [processor_time([process]) for process in processes]
    time, = worker.measure(1)
    used = [processor_time([process]) - start for process, start in zip(processes, before)]
    worker.close()
    return {"size": size, "time": time, "processor time": used}


def lines(count):
    """Returns the path of a file with a number of secrets."""
    path = pathlib.Path(TEMPORARY.name, f"{count}.env")
    path.write_text("".join(f'export NAME_{number}="the secret of {number}"\n' for number in range(count)))
    return path


def daemon():
    """Returns the number of the process that provides the keyring."""
    answer = subprocess.run(
        ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
         "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.freedesktop.secrets"],
        capture_output=True, text=True)
    match = re.fullmatch(r"\(uint32 (\d+),\)\n", answer.stdout)
    if match is None:
        raise Failure(f"no keyring: {answer.stderr}")
    return int(match[1])


def of_curve(name, points):
    """Returns the table of a curve."""
    curve = CURVES[name]
    head = [curve.unit, "time", "processor time", "of each", "gnome-keyring's"]
    rows = []
    for point in points:
        own, *keyring = point["processor time"]
        rows.append([f"{point['size']:,}", *map(amount, (point["time"], own, own / point["size"], *keyring))])
    return [f"## {curve.title}", "", *table([head[:len(rows[0])], *rows])]
