"""The catalog of the operations and their contenders.

The contenders of an operation do the same work. One of them is the reference that the others are compared to.
"""

import dataclasses
import json
import pathlib
import shutil
import subprocess
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BUILD = REPOSITORY / ".build"
SWIFT = BUILD / "counts/release/contender"
C = BUILD / "benchmarks/C/contender"
SD_BUS = BUILD / "benchmarks/C/sd-bus"
PYTHON = "/usr/bin/python3"  # the system's own Python, which has Debian's modules

SERVICE = "swift-keyring-benchmark"
PASSWORD = "the secret of account-0"

# Names that the chart or several operations have
PROPERTY = "@Password"
ONE_QUERY = "items(matching:)"
READ_ALL = "SecureProperties.readAll()"
CACHED = "storage.cached()"
ENCRYPTED_FILE = "EncryptedFileStorage"
DICTIONARY = "Mutex<Dictionary>"
LOOKUP = "C: secret_password_lookupv_sync"
STORE = "C: secret_password_storev_sync"
CLEAR = "C: secret_password_clearv_sync"
LOOK_AND_STORE = "C: look-up and store"
SEARCH_AND_DELETE = "C: search and delete"
LOOKUPS = "C: look-ups"
MESSAGES = "sd-bus: the messages alone"
SECRET_STORAGE = "python3-secretstorage"
SWIFT_PROGRAM = "Swift program, dynamic"
STATIC_PROGRAM = "Swift program, static"
EMPTY_PROGRAM = "empty Swift program, dynamic"
EMPTY_STATIC_PROGRAM = "empty Swift program, static"
C_PROGRAM = "C program"

# gnome-keyring takes longer for each change, the more items there are.
IN_TURN = 110


@dataclasses.dataclass(frozen=True)
class Operation:
    title: str
    contenders: dict  # the command of each, by its name, the first of which is this library's
    reference: str = ""
    warm: int = 20  # the operations before those that count
    counted: int = 200
    uses: int = 1  # the uses of the library in one operation
    prepare: object = lambda: None
    note: str = ""


def swift(*arguments):
    return [SWIFT, *map(str, arguments)]


def c(*arguments):
    return [C, *map(str, arguments)]


def sd_bus(*arguments):
    return [SD_BUS, *map(str, arguments)]


def python(*arguments):
    return [PYTHON, "-I", REPOSITORY / "Benchmarks/Python/contender.py", *arguments]


def is_counted(command):
    """Indicates whether the instructions and messages of a contender are counted, rather than only its time."""
    return command[0] in (SWIFT, C, SD_BUS)


def fill(count):
    """Removes what other operations have left, and stores the passwords of some accounts."""
    # Its status is 1 if there was nothing to remove.
    subprocess.run(["secret-tool", "clear", "service", SERVICE])
    subprocess.run([SWIFT, "fill", str(count)], check=True)


def make_file(*count):
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    subprocess.run([SWIFT, "fill-file", *FILE, *count], check=True)


# How long a path is decides how many instructions each write takes, by up to 5 %. So this one is the same length on
# every machine, and not in the repository. Unlike /tmp, /var/tmp isn't in memory.
TEMPORARY = tempfile.TemporaryDirectory(prefix="swift-keyring-", dir="/var/tmp")
DIRECTORY = pathlib.Path(TEMPORARY.name, "files")
FILE = [DIRECTORY / "key"]

# The operations on a keyring. Each account is used once where items are created or removed.
ON_KEYRING = {
    "read": Operation("Read", {
        PROPERTY: swift("read"), LOOKUP: c("read"), MESSAGES: sd_bus("read"), SECRET_STORAGE: python("read"),
    }, LOOKUP, prepare=lambda: fill(1), note=(
        "python3-secretstorage opens a session with a new key for each item that it finds.")),
    "absent": Operation("Read where there is no value", {
        PROPERTY: swift("absent"), LOOKUP: c("absent"), MESSAGES: sd_bus("absent"),
    }, LOOKUP, prepare=lambda: fill(1), note=(
        "The library sends two messages at the same time. The second one asks whether the collection is locked, because an "
        "item is reported as missing only if nothing can be hidden. C's call doesn't ask.")),
    "replace": Operation("Write in place of another value", {
        PROPERTY: swift("write"), LOOK_AND_STORE: c("look-and-write"), STORE: c("write"),
        MESSAGES: sd_bus("look-and-write"), SECRET_STORAGE: python("write"),
    }, LOOK_AND_STORE, note=(
        "C's items have as many attributes as the library's, because the time that gnome-keyring takes to write "
        "grows with the number of attributes. Python's items have fewer. The library looks at the item's attributes, and "
        "sends a signal before and after the change, because gnome-keyring sends none.")),
    "create": Operation("Write where there was no value", {
        PROPERTY: swift("create", IN_TURN), LOOK_AND_STORE: c("create", IN_TURN),
        MESSAGES: sd_bus("create", IN_TURN),
    }, LOOK_AND_STORE, warm=10, counted=100, note=(
        "The library sends one more message than C, which asks whether the collection hides an item.")),
    # C's call clears with a search and a deletion. A search by itself makes objects of all that it finds.
    "remove": Operation("Remove", {
        PROPERTY: swift("remove", IN_TURN), CLEAR: c("clear", IN_TURN),
        SEARCH_AND_DELETE: c("search-and-delete", IN_TURN), MESSAGES: sd_bus("clear", IN_TURN),
        SECRET_STORAGE: python("remove"),
    }, CLEAR, warm=10, counted=100, note=(
        "The library looks at the item's attributes in a message of its own, so that it removes no other program's item.")),
    "items": Operation("50 items of one service", {
        ONE_QUERY: swift("query", 50), LOOKUPS: c("read", 50),
    }, LOOKUPS, warm=2, counted=10, prepare=lambda: fill(50), note=(
        "The look-ups fetch only the secrets, the library also the metadata.")),
    "settings": Operation("Settings of 20 properties", {
        READ_ALL: swift("settings"), LOOKUPS: c("read", 20),
    }, LOOKUPS, warm=2, counted=20, prepare=lambda: fill(20)),
}

# The paths on which no message is sent
IN_PROCESS = {
    "memory-read": Operation(
        "Read a property in memory", {PROPERTY: swift("memory-read"), DICTIONARY: swift("dictionary-read")}, DICTIONARY,
        warm=1, counted=5, uses=1_000),
    "memory-write": Operation(
        "Write a property in memory", {PROPERTY: swift("memory-write")}, warm=1, counted=5, uses=1_000),
    "cached-read": Operation(
        "Read through the cache", {CACHED: swift("cached-read"), DICTIONARY: swift("dictionary-read")}, DICTIONARY,
        warm=10, counted=50, uses=1_000, prepare=lambda: fill(1)),
    "key-coding": Operation(
        "A key of its attributes", {"ItemKey": swift("key-coding")}, warm=1, counted=5, uses=1_000),
    "item-coding": Operation(
        "A credential in memory, written and read", {"@Credentials": swift("credential-coding")},
        warm=1, counted=5, uses=1_000),
}

# What needs the trait Files of the contender
ON_FILES = {
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
OPERATIONS = {**ON_KEYRING, **IN_PROCESS, **ON_FILES}

# What docker's helper reads
SERVER = "https://registry.example.org"
LOGIN = {"ServerURL": SERVER, "Username": "account-0", "Secret": PASSWORD}
DOCKER = shutil.which("docker-credential-secretservice")


def prepare_start():
    fill(1)
    subprocess.run([DOCKER, "store"], input=json.dumps(LOGIN), text=True, check=True)


# Programs that read one password and exit, and empty ones. Only their time is measured.
COLD_START = Operation("Cold start", {
    SWIFT_PROGRAM: [BUILD / "benchmarks-cold-start/release/cold-start"],
    STATIC_PROGRAM: [BUILD / "benchmarks-static/release/cold-start"],
    EMPTY_PROGRAM: [BUILD / "benchmarks-cold-start/release/empty"],
    EMPTY_STATIC_PROGRAM: [BUILD / "benchmarks-static/release/empty"],
    C_PROGRAM: [BUILD / "benchmarks/C/cold-start"],
    "secret-tool lookup": [shutil.which("secret-tool"), "lookup", "service", SERVICE, "username", "account-0"],
    "python3 -m keyring get": [PYTHON, "-m", "keyring", "get", SERVICE, "account-0"],
    "docker-credential-secretservice get": [DOCKER, "get"],
}, C_PROGRAM, warm=3, counted=100, prepare=prepare_start, note=(
    "A process reads one password and exits. Of the C program's 31 million instructions, 24 are the key exchange. The "
    "empty programs read nothing. Their time is the start of Swift itself: the loader finds the symbols of its libraries, "
    "unless the program is static."))
EMPTY = {EMPTY_PROGRAM, EMPTY_STATIC_PROGRAM}

ALL = {**OPERATIONS, "cold-start": COLD_START}
