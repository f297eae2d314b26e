"""Describes the machine, the versions and the date of a report."""

import datetime
import os
import platform
import re
import subprocess

from operations import REPOSITORY

PACKAGES = [
    "libsecret-1-0", "libglib2.0-0", "libsystemd0", "gnome-keyring", "dbus-daemon", "libsecret-tools",
    "python3-secretstorage", "python3-keyring", "golang-docker-credential-helpers", "valgrind",
]

FLEET_PACKAGES = ["etcd-server"]


def description(load, packages=PACKAGES):
    """Yields pairs of a name and a value. The load is the one before the first work."""
    yield "date", f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC"
    yield "swift-keyring", revision()
    yield "processor", f"{processor()}, {os.cpu_count()} cores"
    yield "system", f"{system()}, Linux {platform.release().partition('-')[0]}"
    yield "load before the start", load
    yield "Swift", first_match(r"Swift version (\S+)", output("swift", "--version"))
    yield "C compiler", output("cc", "--version").partition("\n")[0]
    yield "Python", platform.python_version()
    for package in packages:
        yield package, output("dpkg-query", "--show", "--showformat=${Version}", package)


def revision():
    commit = output("git", "-C", REPOSITORY, "rev-parse", "--short", "HEAD")
    changes = output(
        "git", "-C", REPOSITORY, "status", "--porcelain", "--", "Sources", "Benchmarks", ":!Benchmarks/*.md",
        ":!Benchmarks/*.svg")
    return f"commit {commit}{', with uncommitted changes' if changes else ''}"


def processor():
    return first_match(r"model name\s*: (.*)", open("/proc/cpuinfo").read()) or platform.machine()


def system():
    return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")


def output(*command):
    try:
        run = subprocess.run(command, text=True, capture_output=True)
    except FileNotFoundError:
        return ""
    return run.stdout.strip()


def first_match(pattern, text):
    found = re.search(pattern, text)
    return found and found[1]
