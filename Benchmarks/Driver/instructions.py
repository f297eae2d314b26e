"""Counts the instructions of one read with callgrind, by the owner of the code.

Each contender runs once, and again with twice as many reads. The runs differ only in the additional reads, so
the difference is the cost of those reads.
"""

import collections
import os
import re
import subprocess

from contenders import Failure
from works import C, LOOKUP, PROPERTY, REPOSITORY, SERVICE_LOOKUP, STORAGE, SWIFT, fill

# The profiles stay in this directory, for callgrind_annotate and kcachegrind.
PROFILES = REPOSITORY / ".build/benchmarks/profiles"

# The owners of the files in a process. A file that matches no pattern belongs to the C library. The program
# itself also contains the measured library, and the code that Swift's compiler puts into a program.
OWNERS = [
    ("contender (own code)", r"/contender$"),
    ("Swift runtime", r"/lib(swift|_?Foundation|dispatch|BlocksRuntime)[^/]*$"),
    ("libsecret", r"/libsecret-"),
    ("GLib, GObject, GIO", r"/lib(glib|gobject|gio|gmodule|ffi)\b[^/]*$"),
    ("libgcrypt", r"/lib(gcrypt|gpg-error)\."),
]
THE_REST = "C library"
ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "memalign"}

CONTENDERS = {
    PROPERTY: [SWIFT / "contender", "read-property"],
    STORAGE: [SWIFT / "contender", "read-storage"],
    LOOKUP: [C / "contender", "read-password"],
    SERVICE_LOOKUP: [C / "contender", "read-service"],
}


def counted(quick):
    """Returns the instructions of one read, and its calls to allocate memory, by contender and owner."""
    fill(0, 1)
    PROFILES.mkdir(exist_ok=True)
    reads = 10 if quick else 200
    answer = {}
    for name, command in CONTENDERS.items():
        once, twice = (profile(name, command, count) for count in (reads, 2 * reads))
        answer[name] = {
            owner: [(twice[owner][kind] - once[owner][kind]) / reads for kind in (0, 1)]
            for owner in [owner for owner, _ in OWNERS] + [THE_REST]
        }
    return answer


def profile(name, command, reads):
    file = PROFILES / f"{command[0].parent.name}-{command[1]}-{reads}"
    valgrind = ["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={file}"]
    command = [without_debug_information(command[0]), *command[1:]]
    # Without this, the order of Swift's tables is different in each process.
    environment = {**os.environ, "SWIFT_DETERMINISTIC_HASHING": "1"}
    run = subprocess.run(
        [*valgrind, *command], input=f"{reads}\n", text=True, capture_output=True, env=environment)
    if run.returncode != 0 or len(run.stdout.split()) != reads:
        raise Failure(f"{name} under valgrind: {run.stderr}")
    with open(file) as lines:
        return by_owner(lines)


def without_debug_information(program):
    """Returns a copy of the program without debug information.

    valgrind 3.19 can't read the debug information that clang writes about the C code of other packages.
    """
    copy = PROFILES / program.parent.name / program.name
    copy.parent.mkdir(exist_ok=True)
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
