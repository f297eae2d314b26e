#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Puts secrets into a directory, and replaces them all at once, as a kubelet does for a mounted volume.

  mount-secrets.py DIRECTORY first|last

The files are links through the link ..data to the directory of a version. The steps and their order are those of
kubernetes/pkg/volume/util/atomic_writer.go. Older kubelets add the links of new files before ..data leads to the new
version ("first"), newer ones afterwards ("last").

Each line of the input is an object of names and texts, the next version, or an array of three numbers. For these, the
script writes the versions with all numbers from the first to the second, with a pause of as many milliseconds as the
third after each. In such a version, "first" and "second" are files with the number, and "odd" is one if the number is
odd. A line of output says that a line of input is done.
"""

import json
import os
import shutil
import sys
import tempfile
import time

DIRECTORY, LINKS = sys.argv[1:]


def path(*names):
    return os.path.join(DIRECTORY, *names)


def add_links(names):
    for name in names:
        if not os.path.lexists(path(name)):
            os.symlink(f"..data/{name}", path(name))


def write(payload):
    try:
        old = os.readlink(path("..data"))
    except FileNotFoundError:
        old = None
    version = tempfile.mkdtemp(prefix="..2026_", dir=DIRECTORY)
    os.chmod(version, 0o755)
    for name, text in payload.items():
        with open(os.path.join(version, name), "w", encoding="utf-8") as file:
            file.write(text)
    if LINKS == "first":
        add_links(payload)
    os.symlink(os.path.basename(version), path("..data_tmp"))
    os.rename(path("..data_tmp"), path("..data"))
    if LINKS == "last":
        add_links(payload)
    if old:
        for name in os.listdir(path(old)):
            # A writer that was killed before may not have linked it.
            if name not in payload and os.path.lexists(path(name)):
                os.remove(path(name))
        shutil.rmtree(path(old))


def numbered(number):
    names = ["first", "second"] + (["odd"] if number % 2 else [])
    return {name: str(number) for name in names}


# A writer that was killed may have left it.
if os.path.lexists(path("..data_tmp")):
    os.remove(path("..data_tmp"))

for line in sys.stdin:
    request = json.loads(line)
    if isinstance(request, dict):
        write(request)
    else:
        for number in range(request[0], request[1] + 1):
            write(numbered(number))
            time.sleep(request[2] / 1000)
    print("done", flush=True)
