"""Runs Python's two libraries as contenders.

  contender.py WORK

Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that each
operation took. If an operation doesn't do what it should, the program ends with an error instead.
"""

import sys
import time

import keyring
import secretstorage

SERVICE = "swift-keyring-benchmark"


def attributes(account):
    return {"service": SERVICE, "username": account}


def check(is_right, what):
    if not is_right:
        sys.exit(f"contender.py: {what}")


class SecretStorage:
    """A client that keeps its connection and its collection, as a long-lived program would."""

    def __init__(self, account):
        self.attributes = attributes(account)
        self.collection = secretstorage.get_default_collection(secretstorage.dbus_init())

    def items(self):
        return self.collection.search_items(self.attributes)

    def read(self):
        item = next(self.items(), None)
        return item and item.get_secret().decode()

    def write(self, password):
        self.collection.create_item("benchmark", self.attributes, password.encode(), replace=True)

    def remove(self):
        next(self.items()).delete()


class Keyring:
    """A client that uses the package keyring, whose functions open a connection for each call."""

    def __init__(self, account):
        self.account = account

    def read(self):
        return keyring.get_password(SERVICE, self.account)

    def write(self, password):
        keyring.set_password(SERVICE, self.account, password)

    def remove(self):
        keyring.delete_password(SERVICE, self.account)


def timed(function, *arguments):
    start = time.monotonic_ns()
    result = function(*arguments)
    return time.monotonic_ns() - start, result


def read(client):
    taken, password = timed(client.read)
    check(password == "the secret of account-0", "another password was read")
    return taken


number = 0


def write(client):
    global number
    if number == 0:
        client.write("the first")
    number += 1
    taken, _ = timed(client.write, f"the secret {number}")
    check(client.read() == f"the secret {number}", "the password wasn't written")
    return taken


def remove(client):
    client.write("to be removed")
    taken, _ = timed(client.remove)
    check(client.read() is None, "the password wasn't removed")
    return taken


def search(client):
    def load():
        return [
            (item.get_label(), item.get_attributes(), item.get_secret().decode())
            for item in client.items()
        ]

    client.attributes = {"service": SERVICE}
    taken, items = timed(load)
    secrets = {attributes["username"]: secret for label, attributes, secret in items if label}
    accounts = [f"account-{index}" for index in range(int(sys.argv[2]))]
    check(secrets == {account: f"the secret of {account}" for account in accounts}, "other items were found")
    return taken


def main():
    work_name, client_name = sys.argv[1].split("-", 1)
    work = {"read": read, "write": write, "remove": remove, "search": search}[work_name]
    account = "account-0" if work is read else f"python-{sys.argv[1]}"
    client = {"secretstorage": SecretStorage, "keyring": Keyring}[client_name](account)
    for line in sys.stdin:
        print(*[work(client) for _ in range(int(line))], flush=True)


main()
