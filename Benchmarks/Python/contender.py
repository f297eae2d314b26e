"""Runs python3-secretstorage as a contender.

  contender.py read|write|remove

Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that each
operation took. If an operation doesn't do what it should, the program ends with an error instead.
"""

import sys
import time

import secretstorage

WORK = sys.argv[1]
ACCOUNT = "account-0" if WORK == "read" else f"python-{WORK}"
ATTRIBUTES = {"service": "swift-keyring-benchmark", "username": ACCOUNT}

# A long-lived program would keep its connection and its collection, too.
collection = secretstorage.get_default_collection(secretstorage.dbus_init())
number = 0


def read():
    item = next(collection.search_items(ATTRIBUTES), None)
    return item and item.get_secret().decode()


def write():
    collection.create_item("benchmark", ATTRIBUTES, f"the secret {number}".encode(), replace=True)


def remove():
    next(collection.search_items(ATTRIBUTES)).delete()


def measured():
    """Performs an operation, checks what it did, and returns the nanoseconds that it took."""
    global number
    number += 1
    if WORK == "remove" or number == 1 and WORK == "write":
        write()
    start = time.monotonic_ns()
    result = perform()
    taken = time.monotonic_ns() - start
    found = result if WORK == "read" else read()
    if found != {"read": "the secret of account-0", "write": f"the secret {number}", "remove": None}[WORK]:
        sys.exit(f"contender.py: after {WORK}, the password is {found}")
    return taken


perform = {"read": read, "write": write, "remove": remove}[WORK]
for line in sys.stdin:
    print(*[measured() for _ in range(int(line))], flush=True)
