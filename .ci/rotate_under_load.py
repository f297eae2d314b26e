"""Rotates the secrets of a service while clients send it requests: see check-rotation."""

import base64
import hashlib
import hmac
import http.client
import itertools
import json
import os
import re
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

OVERLAP = 2.0  # seconds in which the old values are still accepted
GRACE = 1.0  # seconds after the overlap from which on nothing may use them
CLIENTS = 8
REQUESTS_PER_CONNECTION = 5


processes = []


def start(command, **options):
    processes.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options))
    return processes[-1]


class Lines(threading.Thread):
    """The lines that a process prints."""

    def __init__(self, process, note=lambda line: None):
        super().__init__(daemon=True)
        self.stream, self.note = process.stderr, note
        self.lines, self.changed = [], threading.Condition()
        self.start()

    def run(self):
        for line in self.stream:
            self.note(line)
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()

    def wait_for(self, pattern):
        def find():
            return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

        with self.changed:
            if not self.changed.wait_for(find, timeout=60):
                raise SystemExit(f"no line has {pattern}: {self.lines[-5:]}")
            return find()


class Database:
    """PostgreSQL with two users in turn."""

    def __init__(self, home, history):
        # It refuses to run as root.
        self.user = [] if os.geteuid() else ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        self.directory, self.history = home / "database", history
        self.directory.mkdir(mode=0o700)
        if self.user:
            shutil.chown(self.directory, "postgres", "postgres")
        installed = Path("/usr/lib/postgresql").glob("*/bin")
        newest = max(installed, key=lambda path: float(path.parent.name), default=None)
        self.programs = f"{newest or Path(shutil.which('postgres')).parent}/"
        subprocess.run(
            [*self.user, f"{self.programs}initdb", "--pgdata", self.directory, "--username=admin", "--no-locale",
             "--auth-local=trust", "--auth-host=scram-sha-256", "--no-sync"],
            check=True, stdout=subprocess.DEVNULL, cwd="/")
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = server.getsockname()[1]
        settings = [f"port={self.port}", f"unix_socket_directories={self.directory}", "listen_addresses=127.0.0.1",
                    "log_connections=on", "log_line_prefix=%n ", "fsync=off"]
        process = start(
            [*self.user, f"{self.programs}postgres", "-D", self.directory, *(f"--{setting}" for setting in settings)],
            cwd="/")
        Lines(process, self.note).wait_for("ready to accept connections")
        self.run("CREATE ROLE app_0 LOGIN; CREATE ROLE app_1 LOGIN")

    def note(self, line):
        if login := re.match(r"(\S+) LOG: +connection authorized: user=app_(\d)", line):
            # The time is in milliseconds.
            self.history.use_of_user("login", int(login[2]), float(login[1]), float(login[1]) + 0.001)
        elif "FATAL" in line and "administrator command" not in line:
            self.history.refuse(line.rstrip())

    def run(self, statements):
        return subprocess.run(
            ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1",
             f"--host={self.directory}", f"--port={self.port}", "--username=admin", "postgres"],
            input=statements, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def change_password(self, user):
        password = secrets.token_urlsafe()
        self.run(f"ALTER ROLE {user} PASSWORD '{password}'")
        return password

    def sessions(self, user):
        return int(self.run(f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{user}'"))


class Authority:
    """Signs the certificates of the service. The serial number of each is the number of its version, and 1."""

    def __init__(self, home):
        self.key, self.certificate, self.files = home / "ca.key", home / "ca.crt", [home / "tls.key", home / "tls.crt"]
        self.create(self.key, self.certificate, "/CN=authority", "-addext", "basicConstraints=critical,CA:TRUE")

    def create(self, key, certificate, subject, *options):
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-batch",
             "-keyout", key, "-out", certificate, "-subj", subject, "-days", "2", *options],
            check=True, stderr=subprocess.DEVNULL)

    def pair(self, version):
        self.create(
            *self.files, "/CN=service", "-addext", "subjectAltName=IP:127.0.0.1", "-set_serial", str(version + 1),
            "-CA", self.certificate, "-CAkey", self.key)
        return {file.name: file.read_text() for file in self.files}


class Directory:
    """A directory whose files are replaced all at once."""

    def __init__(self, path):
        self.path, self.version = path, None
        path.mkdir(mode=0o700)

    def publish(self, files):
        """Returns the time from which on the new files are the current ones."""
        new = Path(tempfile.mkdtemp(prefix="..", dir=self.path))
        for name, content in files.items():
            (new / name).write_text(content)
        (self.path / "..data_tmp").symlink_to(new.name)
        (self.path / "..data_tmp").rename(self.path / "..data")
        now = time.time()
        links = {entry.name for entry in self.path.iterdir() if not entry.name.startswith(".")}
        for name in files.keys() - links:
            (self.path / name).symlink_to(f"..data/{name}")
        for name in links - files.keys():
            (self.path / name).unlink()
        if self.version:
            shutil.rmtree(self.version)
        self.version = new
        return now


class History:
    """Which version was current when, and what used an old one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.starts, self.tokens = [], {}  # by version; version by token
        self.failures, self.refused, self.late, self.counts = [], [], [], Counter()
        self.last = Counter()  # the most seconds after a rotation in which something used an old value

    def fail(self, text):
        with self.lock:
            self.failures.append(text)

    def refuse(self, text):
        with self.lock:
            self.refused.append(f"{time.time() - self.starts[-1]:.3f} s after version {len(self.starts) - 1}: {text}")

    def use(self, kind, version, began):
        """Notes the use of a value that began at a time. A later one may have replaced it meanwhile."""
        with self.lock:
            self.counts[kind] += 1
            if version + 1 >= len(self.starts) or began < self.starts[version + 1]:
                return
            age = began - self.starts[version + 1]
            self.counts[f"old {kind}"] += 1
            self.last[kind] = max(self.last[kind], age)
            if age > OVERLAP + GRACE:
                self.late.append(f"{kind} of version {version} after {age:.3f} s")

    def use_of_user(self, kind, user, began, ended):
        """Notes the use of a login, which belongs to every other version."""
        with self.lock:
            newest = max(n for n, start in enumerate(self.starts) if n == 0 or start <= ended)
        self.use(kind, newest if newest % 2 == user else newest - 1, began)


class Client(threading.Thread):
    """Sends requests, each with the token of the last response."""

    def __init__(self, number, ports, authority, history):
        super().__init__(daemon=True)
        self.ports, self.history = itertools.cycle(ports[number % 2:] + ports[:number % 2]), history
        self.context = ssl.create_default_context(cafile=authority.certificate)
        self.token, self.received, self.longest, self.ended = None, 0, 0, False
        self.began, self.finished = 0, threading.Condition()
        self.may_run, self.is_paused = threading.Event(), threading.Event()
        self.may_run.set()
        self.start()

    def pause(self):
        self.is_paused.clear()
        self.may_run.clear()
        self.is_paused.wait()

    def run(self):
        while not self.ended:
            if not self.may_run.is_set():
                self.is_paused.set()
                self.may_run.wait()
            began = time.time()
            try:
                connection = connect(next(self.ports), self.context)
                serial = int(connection.sock.getpeercert()["serialNumber"], 16)
                self.history.use("certificate", serial - 1, began)
                for _ in range(REQUESTS_PER_CONNECTION):
                    self.request(connection)
                connection.close()
            except (OSError, http.client.HTTPException) as error:
                self.history.fail(f"a request ends with {error!r}")

    def request(self, connection):
        began = time.time()
        # Clients get a new token before the old one has expired.
        if began - self.received > OVERLAP / 2:
            self.token = None
        status, body = send(connection, self.token)
        if status != 200:
            self.token = None
            return self.history.fail(f"a request is answered with {status}: {body}")
        if self.token:
            self.history.use("accepted token", self.history.tokens[self.token], began)
        user, self.token = body.split()
        self.received = time.time()
        self.longest = max(self.longest, self.received - began)
        self.history.use_of_user("query", int(user.removeprefix("app_")), began, self.received)
        self.history.use("signature", self.history.tokens[self.token], began)
        with self.finished:
            self.began = began
            self.finished.notify_all()

    def wait_for_request(self, after):
        """Waits for a request that has begun after a time, and ended."""
        with self.finished:
            if not self.finished.wait_for(lambda: self.began > after, timeout=60):
                raise SystemExit(f"a client has sent no request for 60 s: {self.history.failures[:5]}")


def connect(port, context):
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
    connection.connect()
    return connection


def send(connection, token):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request("GET", "/items" if token else "/", headers=headers)
    response = connection.getresponse()
    return response.status, response.read().decode().strip()


class Rotation:
    """The secrets of all versions, and the service that has the current one."""

    def __init__(self, program, home):
        self.history = History()
        self.database = Database(home, self.history)
        self.authority = Authority(home)
        self.directory = Directory(home / "secrets")
        self.keys, self.files = [], {}
        self.add_key()
        self.start_version(0)
        address = f"host=127.0.0.1 port={self.database.port} dbname=postgres"
        command = [program, self.directory.path, address]
        self.services = [start(command) for _ in range(2)]
        self.logs = [Lines(service) for service in self.services]
        self.ports = [int(log.wait_for(r"listening on port (\d+)")[1]) for log in self.logs]

    def add_key(self):
        """Creates a signing key. Each instance accepts it before the first one signs with it."""
        self.keys.append(secrets.token_urlsafe())
        code = hmac.digest(self.keys[-1].encode(), b"client", hashlib.sha256)
        token = ".".join(base64.b64encode(part).decode() for part in (b"client", code))
        self.history.tokens[token] = len(self.keys) - 1

    def start_version(self, version):
        """Publishes new values. The old ones are still accepted."""
        user = f"app_{version % 2}"
        credential = {"login": user, "password": self.database.change_password(user)}
        self.files = {"database": json.dumps(credential), "signingKey": self.keys[version]}
        self.files |= self.authority.pair(version)
        previous = {"signingKey.previous": self.keys[version - 1]} if version else {}
        with self.history.lock:
            self.history.starts.append(self.directory.publish(self.files | previous))

    def end_version(self, version):
        """Ends what the old values are good for."""
        self.end_password(version)
        self.add_key()
        self.directory.publish(self.files | {"signingKey.next": self.keys[-1]})

    def end_password(self, version):
        self.database.change_password(f"app_{version % 2}")

    def check_end(self, version, clients):
        """Expects that nothing uses a version any more."""
        moment = self.history.starts[version + 1] + OVERLAP + GRACE
        time.sleep(max(0, moment - time.time()))
        if count := self.database.sessions(f"app_{version % 2}"):
            self.history.late.append(f"{count} sessions of version {version}")
        token = next(token for token, owner in self.history.tokens.items() if owner == version)
        for port in self.ports:
            connection = connect(port, clients[0].context)
            if send(connection, token)[0] != 401:
                self.history.late.append(f"an accepted token of version {version}")
            connection.close()
        for client in clients:
            client.may_run.set()
        for client in clients:
            client.wait_for_request(after=moment)

    def check_wrong_pair(self):
        """Expects that a key of another certificate leaves the old pair in use."""
        wrong = self.files | {"tls.key": self.authority.pair(999)["tls.key"]}
        self.directory.publish(wrong)
        for log in self.logs:
            log.wait_for("The old pair stays: .*")
        self.directory.publish(self.files)

    def run(self, rotations):
        self.check_wrong_pair()
        self.end_version(-1)
        clients = [Client(number, self.ports, self.authority, self.history) for number in range(CLIENTS)]
        for client in clients:
            client.wait_for_request(after=0)
        # An idle service follows the first rotation.
        for client in clients:
            client.pause()
        for version in range(1, rotations + 1):
            self.start_version(version)
            time.sleep(OVERLAP)
            self.end_version(version - 1)
            self.check_end(version - 1, clients)
            if version % 50 == 0:
                print(f"after {version} rotations, {len(self.history.failures)} requests have failed", flush=True)
        for client in clients:
            client.ended = True
            client.join()
        print(f"The longest request took {max(client.longest for client in clients):.3f} s.")
        for service in self.services:
            service.terminate()
            if status := service.wait(60):
                raise SystemExit(f"the service ends with {status}")

    def report(self, rotations):
        history, counts = self.history, self.history.counts
        print(f"{rotations} rotations, {counts['query']} requests, {len(history.failures)} failed,"
              f" {len(history.refused)} refused logins,"
              f" {len(history.late)} uses of an old value a second after its overlap")
        for kind in "login", "query", "certificate", "signature", "accepted token":
            print(f"{counts[kind]} x {kind}, {counts[f'old {kind}']} of an old version,"
                  f" up to {history.last[kind]:.3f} s after its end")
        faults = history.failures[:5] + history.refused[:5] + history.late[:5]
        print(*faults, sep="\n", end="\n" if faults else "")
        # A run in which nothing overlaps shows nothing.
        return not faults and counts["old accepted token"] and counts["login"] > rotations


def main(program, rotations):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    shared = Path("/dev/shm")
    home = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None))
    home.chmod(0o711)  # The user of the database passes through it.
    try:
        rotation = Rotation(program, home)
        rotation.run(rotations)
        return 0 if rotation.report(rotations) else 1
    finally:
        for process in reversed(processes):
            process.send_signal(signal.SIGINT)
            process.wait()
        shutil.rmtree(home)


sys.exit(main(sys.argv[1], int(sys.argv[2])))
