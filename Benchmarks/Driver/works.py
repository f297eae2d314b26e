"""The catalog of the works and their contenders.

Each work runs in its own private session. It has one or more cases. The contenders of a case take turns in
each round. One of them is the reference that the others are compared to.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess

import sample_file
from contenders import Program, Worker

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# The gate has a build of its own, without the fleet.
SWIFT = REPOSITORY / os.environ.get("KEYRING_BENCHMARK_BUILD", ".build/benchmarks") / "release"
COLD_START = REPOSITORY / ".build/benchmarks-cold-start/release"
STATIC = REPOSITORY / ".build/benchmarks-static/release"
C = REPOSITORY / ".build/benchmarks/C"
PYTHON = "/usr/bin/python3"  # the system's own Python, which has Debian's modules

SERVICE = "swift-keyring-benchmark"
PASSWORD = "the secret of account-0"

# The number of calls of python3-keyring in a round. It opens a connection for each call. gnome-keyring 42.1
# aborted 3 times in about 10,000 of them, while items were stored and removed.
FEW = 2

# Names that the targets refer to.
PROPERTY = "@Password"
STORAGE = "SecretServiceStorage"
LOOKUP = "C: secret_password_lookupv_sync"
SERVICE_LOOKUP = "C: secret_service_lookup_sync"
STORE = "C: secret_password_storev_sync"
SERVICE_STORE = "C: secret_service_store_sync"
CLEAR = "C: secret_password_clearv_sync"
SERVICE_CLEAR = "C: secret_service_clear_sync"
SEARCH = "C: secret_service_search_sync"
IN_TURN = "each of 400 passwords in turn"
AT_ONCE = "await, all at once"
AWAITED_IN_TURN = "await, one after the other"
ONE_QUERY = "items(matching:)"
KEYS_ALONE = "items(matching:), keys alone"
NEWEST = "items(matching:), the newest ten"
BY_KEYS = "items(for:)"
READ_ALL = "SecureProperties.readAll()"
C_PROGRAM = "C program"
SWIFT_PROGRAM = "Swift program, dynamic"
STATIC_PROGRAM = "Swift program, static"
DICTIONARY = "Mutex<Dictionary>"
CACHED = "storage.cached()"
ENCRYPTED_FILE = "EncryptedFileStorage"
BARE_FILE = "bare file"

# The files are on the disk of the repository, because a directory for temporary files may be in memory.
FILES = REPOSITORY / ".build/benchmarks/files"


@dataclasses.dataclass(frozen=True)
class Case:
    title: str
    contenders: list
    reference: str
    operations: int  # by each contender in each round
    # Stores the items that the contenders look for. It runs once, before any of them starts.
    prepare: object = lambda: None
    rounds: int = 0  # the number of rounds, if it differs from the work's
    shows_memory: bool = False


@dataclasses.dataclass(frozen=True)
class Work:
    title: str
    cases: object  # a function that takes whether this is a quick run, and returns the cases
    rounds: int = 40
    shows: str = "time"  # or "rate": operations per second
    collection: int = 0  # the number of items in the default collection at the start
    note: str = ""


def swift(name, *arguments, most=1_000):
    return Worker(name, [SWIFT / "contender", *map(str, arguments)], most)


def c(name, *arguments):
    return Worker(name, [C / "contender", *map(str, arguments)])


def python(name, *arguments, most=1_000):
    script = REPOSITORY / "Benchmarks/Python/contender.py"
    return Worker(name, [PYTHON, "-I", script, *map(str, arguments)], most)


def fill(start, end, collection="default", service=SERVICE):
    """Stores the passwords of the accounts from `start` up to but not including `end`."""
    subprocess.run(
        [SWIFT / "contender", "fill", service, str(start), str(end), collection], check=True)


def read(quick):
    contenders = [
        swift(PROPERTY, "read-property"),
        swift(STORAGE, "read-storage"),
        c(LOOKUP, "read-password"),
        c(SERVICE_LOOKUP, "read-service"),
        python("python3-secretstorage", "read-secretstorage"),
        python("python3-keyring", "read-keyring", most=FEW),
    ]
    yield Case("", contenders, LOOKUP, 20, lambda: fill(0, 1))


def write(quick):
    contenders = [
        swift(PROPERTY, "write-property"),
        swift(STORAGE, "write-storage"),
        c(STORE, "write-password"),
        c(SERVICE_STORE, "write-service"),
        python("python3-secretstorage", "write-secretstorage"),
        python("python3-keyring", "write-keyring", most=FEW),
    ]
    yield Case("one password", contenders, SERVICE_STORE, 10)
    count = 20 if quick else 400
    contenders = [
        swift(STORAGE, "write-in-turn", count),
        c(STORE, "write-in-turn-password", count),
        c(SERVICE_STORE, "write-in-turn-service", count),
    ]
    yield Case(IN_TURN, contenders, SERVICE_STORE, 10)


def create(quick):
    contenders = [
        swift(PROPERTY, "create-property"),
        swift(STORAGE, "create-storage"),
        c(STORE, "create-password"),
        c(SERVICE_STORE, "create-service"),
    ]
    yield Case("", contenders, SERVICE_STORE, 10)


def absent(quick):
    contenders = [
        swift(PROPERTY, "absent-property"),
        swift(STORAGE, "absent-storage"),
        c(LOOKUP, "absent-password"),
        c(SERVICE_LOOKUP, "absent-service"),
    ]
    yield Case("", contenders, LOOKUP, 20, lambda: fill(0, 1))


def remove(quick):
    contenders = [
        swift(PROPERTY, "remove-property"),
        swift(STORAGE, "remove-storage"),
        c(CLEAR, "remove-password"),
        c(SERVICE_CLEAR, "remove-service"),
        python("python3-secretstorage", "remove-secretstorage"),
        python("python3-keyring", "remove-keyring", most=FEW),
    ]
    yield Case("", contenders, CLEAR, 10)


def items(quick):
    contenders = [
        swift(ONE_QUERY, "query", 50),
        swift(BY_KEYS, "keys", 50),
        swift("50 reads from the storage", "reads", 50),
        c(f"50 × {LOOKUP}", "reads", 50),
        c(SEARCH, "search", 50),
        python("python3-secretstorage", "search-secretstorage", 50),
    ]
    yield Case("", contenders, f"50 × {LOOKUP}", 2, lambda: fill(0, 50))


def awaits(quick):
    count = 20 if quick else 1_000
    contenders = [
        swift(AT_ONCE, "awaits-at-once", count),
        swift("await, all of one password at once", "awaits-equal", count),
        swift(AWAITED_IN_TURN, "awaits-in-turn", count),
        c(f"{count:,} × {LOOKUP}", "reads", count),
    ]
    yield Case("", contenders, AWAITED_IN_TURN, 1, lambda: fill(0, count))


def settings(quick):
    contenders = [
        swift(READ_ALL, "settings"),
        swift("20 × read() of a property", "properties"),
        c(f"20 × {LOOKUP}", "reads", 20),
    ]
    yield Case("", contenders, f"20 × {LOOKUP}", 4, lambda: fill(0, 20))


def many(size):
    """Returns the cases that depend on the number of items in the default collection."""
    def cases(quick):
        count = 10 if quick else size
        yield Case("read", [swift(STORAGE, "read-storage"), c(LOOKUP, "read-password")], LOOKUP, 10)
        contenders = [swift(STORAGE, "absent-storage"), c(LOOKUP, "absent-password")]
        yield Case("absent value", contenders, LOOKUP, 10)
        contenders = [
            swift(ONE_QUERY, "query", count),
            swift(KEYS_ALONE, "query-keys", count),
            swift(NEWEST, "query-newest", 10),
            c(SEARCH, "search", count),
        ]
        # A list of 10,000 items takes minutes.
        rounds = {10: 20, 1_000: 3, 10_000: 1}[size]
        yield Case("all items", contenders, SEARCH, 1, rounds=rounds, shows_memory=True)
        # This case is the last one, because it adds an item.
        contenders = [swift(STORAGE, "write-storage"), c(SERVICE_STORE, "write-service")]
        yield Case("write", contenders, SERVICE_STORE, 3)
    return cases


def memory(quick):
    contenders = [swift(PROPERTY, "memory-read"), swift(DICTIONARY, "dictionary-read")]
    yield Case("read", contenders, DICTIONARY, 20)
    contenders = [swift(PROPERTY, "memory-write"), swift(DICTIONARY, "dictionary-write")]
    yield Case("write", contenders, DICTIONARY, 20)


def cached(quick):
    """Yields reads of a value that was read before and hasn't changed since."""
    contenders = [swift(CACHED, "cached-read"), swift(DICTIONARY, "dictionary-read")]
    yield Case("", contenders, DICTIONARY, 20, lambda: fill(0, 1))


def file(quick):
    """Yields uses of an encrypted file. With a key file, opening it doesn't have the cost of a passphrase."""
    with_key, with_passphrase = [FILES / "key", "key"], [FILES / "passphrase", "passphrase"]

    def prepare():
        shutil.rmtree(FILES, ignore_errors=True)
        for arguments in (with_key, with_passphrase):
            subprocess.run([SWIFT / "contender", "fill-file", *arguments], check=True)

    contenders = [
        swift(ENCRYPTED_FILE, "file-open", *with_key),
        swift(f"{ENCRYPTED_FILE}, passphrase", "file-open", *with_passphrase, most=1),
        swift(BARE_FILE, "bare-file-read", with_key[0]),
    ]
    yield Case("open", contenders, BARE_FILE, 10, prepare)
    contenders = [
        swift(ENCRYPTED_FILE, "file-read", *with_key),
        swift(DICTIONARY, "dictionary-read"),
    ]
    yield Case("read", contenders, DICTIONARY, 20)
    contenders = [
        swift(ENCRYPTED_FILE, "file-write", *with_key),
        swift(BARE_FILE, "bare-file-write", with_key[0]),
    ]
    yield Case("write", contenders, BARE_FILE, 10)


def file_sizes(quick):
    """Yields uses of files of more and more passwords, each as long as those of the work "file"."""
    for count in [10, 100] if quick else [10, 100, 1_000, 10_000]:
        path = FILES / f"of-{count}"
        file = [path, "key", count]

        def prepare(path=path, count=count):
            accounts = [f"account-{number}" for number in range(count)]
            passwords = {account: f"the secret of {account}".ljust(1_024, "x") for account in accounts}
            sample_file.write(path, SERVICE, passwords)

        cases = {"open": ("file-open", "bare-file-read"), "write": ("file-write", "bare-file-write")}
        for title, (use, bare_use) in cases.items():
            contenders = [swift(ENCRYPTED_FILE, use, *file), swift(BARE_FILE, bare_use, path)]
            yield Case(f"{count:,} passwords, {title}", contenders, BARE_FILE, 4, prepare)
        contenders = [swift(ENCRYPTED_FILE, "file-read", *file), swift(DICTIONARY, "dictionary-read")]
        yield Case(f"{count:,} passwords, read", contenders, DICTIONARY, 2, prepare)


def cold_start(quick):
    docker_server = "https://registry.example.org"
    docker = shutil.which("docker-credential-secretservice")
    login = {"ServerURL": docker_server, "Username": "account-0", "Secret": PASSWORD}

    def prepare():
        fill(0, 1)
        subprocess.run([docker, "store"], input=json.dumps(login), text=True, check=True)

    found = json.dumps(login, separators=(",", ":"))
    tool = [shutil.which("secret-tool"), "lookup", "service", SERVICE, "username", "account-0"]
    keyring = [PYTHON, "-m", "keyring", "get", SERVICE, "account-0"]
    contenders = [
        Program(SWIFT_PROGRAM, [str(COLD_START / "cold-start")], PASSWORD),
        Program(STATIC_PROGRAM, [str(STATIC / "cold-start")], PASSWORD),
        Program(C_PROGRAM, [str(C / "cold-start")], PASSWORD),
        Program("secret-tool lookup", tool, PASSWORD),
        Program("python3 -m keyring get", keyring, PASSWORD),
        Program("docker-credential-secretservice get", [docker, "get"], found, docker_server),
    ]
    yield Case("", contenders, C_PROGRAM, 2, prepare)


def threads(quick):
    for count in [1, 2, 4, 8, 16]:
        contenders = [swift(STORAGE, "threads", count), c(LOOKUP, "threads", count)]
        prepare = (lambda: fill(0, 16)) if count == 1 else (lambda: None)
        yield Case(f"{count} thread{'s'[:count > 1]}", contenders, LOOKUP, 2, prepare)


WORKS = {
    "read": Work("Read, warm", read, note=(
        "python3-secretstorage opens a session with a new key for each item that it finds.")),
    "absent": Work("Read where there is no value, warm", absent),
    "write": Work("Write in place of another value, warm", write, note=(
        "C's items have as many attributes as the library's, because the time that gnome-keyring takes to write "
        "grows with the number of attributes. Python's items have fewer.")),
    "create": Work("Write where there was no value, warm", create),
    "remove": Work("Remove, warm", remove),
    "items": Work("50 items of one service, all secrets", items, rounds=20, note=(
        "All contenders read the metadata too, except for the reads one by one. Those fetch only the secrets.")),
    "awaits": Work("1,000 passwords, awaited", awaits, rounds=10),
    "settings": Work("Whole settings of 20 properties", settings),
    "items-10": Work("A collection of 10 items", many(10), rounds=20, collection=10),
    "items-1000": Work("A collection of 1,000 items", many(1_000), rounds=20, collection=1_000),
    "items-10000": Work("A collection of 10,000 items", many(10_000), rounds=3, collection=10_000, note=(
        "The time that gnome-keyring takes for each property of each item grows with the number of items. All "
        "items are listed once, with their secrets and metadata, except where only the keys are listed.")),
    "memory": Work("In memory", memory),
    "cached": Work("Read again through the cache", cached),
    "file": Work("Encrypted file of 1,000 passwords of 1 KiB", file, rounds=20, note=(
        "Opening is the first read of a new storage. Its key is in a file, or is derived from a passphrase. A "
        "write replaces one password. The bare file has as many bytes. It's read, or replaced in the same safe "
        "way: new file, fsync, rename, fsync of the directory.")),
    "file-sizes": Work("Encrypted files of 10 to 10,000 passwords of 1 KiB", file_sizes, rounds=10, note=(
        "The bare file has as many bytes. A write replaces one password, and the whole file.")),
    "cold-start": Work("Cold start: a process that reads one password and exits", cold_start),
    "threads": Work("Threads reading at the same time", threads, rounds=10, shows="rate", note=(
        "More is better here. A ratio is a ratio of rates.")),
}
