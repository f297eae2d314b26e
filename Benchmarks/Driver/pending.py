"""Measures the cost of reads that wait for a keyring that never answers."""

import os
import signal
import subprocess

from contenders import Failure
from works import SWIFT, fill

# The title of each figure, its maximum, and the size and the name of its unit.
FIGURES = [
    ("additional threads", 4, 1, ""),
    ("additional memory", 64, 1 << 10, " MiB"),
    ("longest delay of a queue of the app and of another storage", 50, 1e6, " ms"),
    ("time from the cancellation of all reads to the end of the last one", 50, 1e6, " ms"),
    ("time from the deadline of all reads to the end of the last one", 50, 1e6, " ms"),
]


def counted(quick):
    """Returns the figures of several runs, and the number of reads that were waiting in each run."""
    count = 100 if quick else 10_000
    fill(0, 1)
    return {"count": count, "runs": [run(count) for _ in range(1 if quick else 5)]}


def run(count):
    keyring = keyring_process()
    process = subprocess.Popen(
        [SWIFT / "contender", "pending", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True)
    try:
        if process.stdout.readline() != "ready\n":
            raise Failure("the reads didn't start")
        os.kill(keyring, signal.SIGSTOP)
        answer, _ = process.communicate("stopped\n")
    finally:
        os.kill(keyring, signal.SIGCONT)
    numbers = [int(word) for word in answer.split()]
    if process.returncode != 0 or len(numbers) != len(FIGURES):
        raise Failure("the pending reads returned no figures")
    return numbers


def keyring_process():
    """Returns the process of this session's keyring, which no other session uses."""
    call = ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
            "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID",
            "org.freedesktop.secrets"]
    answer = subprocess.run(call, text=True, capture_output=True, check=True).stdout
    return int(answer.split()[1].strip(",)"))
