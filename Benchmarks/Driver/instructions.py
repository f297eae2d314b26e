"""Counts the instructions of each operation with callgrind.

A contender performs some operations, and then those that count, between two marks. Callgrind writes a profile at
each mark, so that nothing else is counted. It counts all threads of a process, and so GDBus's, too. The number
hardly depends on the machine, or on what else runs there.
"""

import collections
import dataclasses
import functools
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

import figures
import messages
from contenders import Failure, Worker
from works import (
    C, CACHED, CLEAR, ENCRYPTED_FILE, LOOKUP, ONE_QUERY, PROPERTY, READ_ALL, REPOSITORY, SERVICE, STORAGE, STORE,
    SWIFT, fill)

# The profiles stay in this directory, for callgrind_annotate and kcachegrind.
PROFILES = REPOSITORY / ".build/benchmarks/profiles"

# The function that a contender calls before and after the operations.
MARK = "getppid"

# gnome-keyring takes longer for each change, the more items there are.
IN_TURN = 110

FLOOR = "floor"
LOOK_AND_STORE = "C: look-up and store"
SEARCH_AND_DELETE = "C: search and delete"
LOOKUPS = "C: look-ups"

# The owners of the files in a process. A file that matches no pattern belongs to the C library. The program
# itself also contains the measured library, and the code that Swift's compiler puts into a program.
OWNERS = [
    ("contender (own code)", r"/(contender|floor)$"),
    ("Swift runtime", r"/lib(swift|_?Foundation|dispatch|BlocksRuntime)[^/]*$"),
    ("libsecret", r"/libsecret-"),
    ("GLib, GObject, GIO", r"/lib(glib|gobject|gio|gmodule|ffi)\b[^/]*$"),
    ("libgcrypt", r"/lib(gcrypt|gpg-error)\."),
]
THE_REST = "C library"
ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign"}


@dataclasses.dataclass(frozen=True)
class Operation:
    title: str
    contenders: dict  # the command of each, by its name
    reference: str = ""  # the contender in C that does the same work
    warm: int = 20  # the operations before those that count
    counted: int = 200
    uses: int = 1  # the uses of the library in one operation
    prepare: object = lambda: None


def swift(*arguments):
    return [SWIFT / "contender", "count", *map(str, arguments)]


def c(*arguments):
    return [C / "contender", "count", *map(str, arguments)]


def floor(*arguments):
    return [C / "floor", "count", *map(str, arguments)]


def refill(count):
    """Removes what other operations have left, and stores the passwords of some accounts."""
    # Its status is 1 if there was nothing to remove.
    subprocess.run(["secret-tool", "clear", "service", SERVICE])
    fill(0, count)


def make_file(*count):
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    subprocess.run([SWIFT / "contender", "fill-file", *FILE, *count], check=True)


# How long a path is decides how many instructions each write takes, by up to 5 %. So this one is the same length on
# every machine, and not in the repository. Unlike /tmp, /var/tmp isn't in memory.
TEMPORARY = tempfile.TemporaryDirectory(prefix="swift-keyring-", dir="/var/tmp")
DIRECTORY = pathlib.Path(TEMPORARY.name, "files")
FILE = [DIRECTORY / "key", "key"]

# The operations on a keyring. Each account is used once where items are created or removed.
ON_KEYRING = {
    "read": Operation("Read", {
        PROPERTY: swift("read-property"), STORAGE: swift("read-storage"),
        LOOKUP: c("read-password"), FLOOR: floor("read"),
    }, LOOKUP, prepare=lambda: refill(1)),
    "absent": Operation("Read where there is no value", {
        PROPERTY: swift("absent-property"), STORAGE: swift("absent-storage"),
        LOOKUP: c("absent-password"), FLOOR: floor("absent"),
    }, LOOKUP, prepare=lambda: refill(1)),
    "replace": Operation("Write in place of another value", {
        PROPERTY: swift("write-property"), STORAGE: swift("write-storage"),
        LOOK_AND_STORE: c("careful-write"), STORE: c("write-only"), FLOOR: floor("write"),
    }, LOOK_AND_STORE),
    "create": Operation("Write where there was no value", {
        PROPERTY: swift("create-properties", IN_TURN), STORAGE: swift("create-items", IN_TURN),
        LOOK_AND_STORE: c("careful-create", IN_TURN), FLOOR: floor("create", IN_TURN),
    }, LOOK_AND_STORE, warm=10, counted=100),
    # C's call clears with a search and a deletion. A search by itself makes objects of all that it finds.
    "remove": Operation("Remove", {
        PROPERTY: swift("remove-properties", IN_TURN), STORAGE: swift("remove-items", IN_TURN),
        SEARCH_AND_DELETE: c("careful-remove", IN_TURN), CLEAR: c("clear-in-turn", IN_TURN), FLOOR: floor("remove", IN_TURN),
    }, CLEAR, warm=10, counted=100),
    "items": Operation("50 items of one service", {
        ONE_QUERY: swift("query", 50), LOOKUPS: c("reads", 50), FLOOR: floor("items", 50),
    }, LOOKUPS, warm=2, counted=10, prepare=lambda: refill(50)),
    "settings": Operation("Settings of 20 properties", {
        READ_ALL: swift("settings"), LOOKUPS: c("reads", 20), FLOOR: floor("settings", 20),
    }, LOOKUPS, warm=2, counted=20, prepare=lambda: refill(20)),
}

# The paths on which no message is sent
IN_PROCESS = {
    "memory-read": Operation(
        "Read a property in memory", {PROPERTY: swift("memory-read")}, warm=1, counted=5, uses=1_000),
    "memory-write": Operation(
        "Write a property in memory", {PROPERTY: swift("memory-write")}, warm=1, counted=5, uses=1_000),
    "cached-read": Operation(
        "Read through the cache", {CACHED: swift("cached-read")}, warm=10, counted=50, uses=1_000,
        prepare=lambda: refill(1)),
    "key-coding": Operation(
        "A key of its attributes", {"ItemKey": swift("key-coding")}, warm=1, counted=5, uses=1_000),
    "item-coding": Operation(
        "A credential in memory, written and read", {"@Credentials": swift("credential-coding")},
        warm=1, counted=5, uses=1_000),
    "file-read": Operation(
        "Read from an encrypted file of 1,000 items", {ENCRYPTED_FILE: swift("file-read", *FILE)},
        warm=1, counted=3, uses=1_000, prepare=make_file),
    "file-write": Operation(
        "Write to an encrypted file of 1,000 items", {ENCRYPTED_FILE: swift("file-write", *FILE)},
        warm=2, counted=10, prepare=make_file),
    # Most of this is the sealing.
    "seal": Operation(
        "Write to an encrypted file of one item", {ENCRYPTED_FILE: swift("file-write", *FILE, 1)},
        warm=20, counted=200, prepare=lambda: make_file("1")),
}
OPERATIONS = {**ON_KEYRING, **IN_PROCESS}


def measured(names, runs):
    """Returns what each contender needs for one use, by operation and contender.

    That is the medians of some runs of the instructions and allocations by owner, and the times, and what is sent.
    """
    answer = {}
    for name in names:
        operation = OPERATIONS[name]
        operation.prepare()
        times = timed(operation)
        answer[name] = {}
        for contender, command in operation.contenders.items():
            profiles = [profile(name, contender) for _ in range(runs)]
            answer[name][contender] = {
                "owners": median(profiles), "runs": [total(profile) for profile in profiles], "times": times[contender]}
            if name in ON_KEYRING:
                sent = messages.sent(command, operation.warm, operation.counted, MARK)
                answer[name][contender]["sent"] = dataclasses.asdict(sent)
    return answer


def timed(operation):
    """Returns the nanoseconds of one use by each contender, all of which take turns."""
    rounds = 10
    workers = [
        Worker(name, [command[0], *command[2:]]) for name, command in operation.contenders.items()]
    for worker in workers:
        worker.measure(operation.warm)
    times = {worker.name: [] for worker in workers}
    for _ in range(rounds):
        for worker in random.sample(workers, len(workers)):
            times[worker.name] += worker.measure(max(1, operation.counted // rounds))
    for worker in workers:
        worker.close()
    return times


def median(profiles):
    """Returns the profile with the median number of instructions."""
    return sorted(profiles, key=total)[len(profiles) // 2]


def total(by_owner):
    return sum(instructions for instructions, _ in by_owner.values())


def ratio(contenders, contender, reference):
    """Returns a contender's instructions divided by the reference's, over all runs."""
    runs = zip(contenders[contender]["runs"], contenders[reference]["runs"])
    return figures.Figure.of([own / other for own, other in runs])


def profile(name, contender):
    """Returns the instructions and allocations of one use, by owner."""
    operation = OPERATIONS[name]
    command = operation.contenders[contender]
    file = new_profile("-".join([name, command[0].name, command[0].parent.name, command[2]]))
    callgrind(file, [f"--dump-before={MARK}"], command, f"{operation.warm}\n{operation.counted}\n")
    # There is a profile for each mark, and the last one has what came before the last mark.
    totals = totals_in(f"{file}.4")
    uses = operation.counted * operation.uses
    return {
        owner: [number / uses for number in totals[owner]] for owner in [owner for owner, _ in OWNERS] + [THE_REST]}


def new_profile(name):
    """Returns the path of a profile, after it has removed old ones of the same name."""
    PROFILES.mkdir(parents=True, exist_ok=True)
    for old in PROFILES.glob(f"{name}*"):
        old.unlink()
    return PROFILES / name


def callgrind(file, options, command, lines=""):
    """Runs a program with input, and writes its profiles to a file and others with its name and numbers."""
    program = without_debug_information(command[0])
    # Without this, the order of Swift's tables is different in each process.
    environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={file}", *options, program, *command[1:]],
        input=lines, text=True, capture_output=True, env=environment)
    if run.returncode != 0:
        raise Failure(f"{program} under valgrind: {run.stderr}")


def totals_in(profile):
    with open(profile) as lines:
        return by_owner(lines)


@functools.cache
def without_debug_information(program):
    """Returns a copy of the program without debug information.

    valgrind 3.19 can't read the debug information that clang writes about the C code of other packages.
    """
    copy = PROFILES.joinpath(*program.relative_to(REPOSITORY / ".build").parts)
    copy.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
    return copy


def by_owner(lines):
    """Returns the instructions and allocations in a profile, by owner.

    The manual of valgrind describes the format of callgrind's profiles.
    """
    names = {}  # the profile has a name once, and then only its number

    def name(text, kind):
        number, _, given = text.partition(" ")
        if given:
            names[kind, number] = given
        return names[kind, number]

    totals = collections.defaultdict(lambda: [0, 0])
    owner, called, is_inclusive = THE_REST, "", False
    for line in lines:
        key, _, text = line.rstrip("\n").partition("=")
        if key == "ob":
            owner = owner_of(name(text, "ob"))
        elif key == "cob":
            name(text, "ob")
        elif key == "fn":
            name(text, "fn")
        elif key == "cfn":
            called = name(text, "fn")
        elif key == "calls":
            # The next line has the cost of the called function. It's counted in that function.
            is_inclusive = True
            if called.partition("'")[0] in ALLOCATORS:
                totals[owner][1] += int(text.split()[0])
        elif line[:1] in "+-*0123456789" and line.strip():
            if not is_inclusive:
                totals[owner][0] += int(line.split()[1])
            is_inclusive = False
    return totals


def owner_of(path):
    for owner, pattern in OWNERS:
        if re.search(pattern, path):
            return owner
    return THE_REST
