"""What reads cost that wait for a keyring that never answers."""

import os
import signal
import subprocess

from contenders import Failure
from works import SWIFT, fill

# Each with the most that it may be, and with the size of its unit.
FIGURES = [
    ("threads more than before", 4, 1, ""),
    ("memory more than before", 64, 1 << 10, " MiB"),
    ("longest delay of a queue of the app and of another storage", 50, 1e6, " ms"),
    ("last end after the cancellation of all", 50, 1e6, " ms"),
    ("last end after the deadline of all", 50, 1e6, " ms"),
]


def counted(quick):
    """The figures of several runs, and how many reads were waiting in each."""
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
            raise Failure("the reads were not begun")
        os.kill(keyring, signal.SIGSTOP)
        answer, _ = process.communicate("stopped\n")
    finally:
        os.kill(keyring, signal.SIGCONT)
    numbers = [int(word) for word in answer.split()]
    if process.returncode != 0 or len(numbers) != len(FIGURES):
        raise Failure("the pending reads gave no figures")
    return numbers


def keyring_process():
    """The process of the keyring of this session, which is nobody else's."""
    call = ["gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path",
            "/org/freedesktop/DBus", "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID",
            "org.freedesktop.secrets"]
    answer = subprocess.run(call, text=True, capture_output=True, check=True).stdout
    return int(answer.split()[1].strip(",)"))
