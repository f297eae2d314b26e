#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the files of a directory in another one, through FUSE and for reading only.

    fuse-mirror.py DIRECTORY MOUNTPOINT

The system doesn't notice changes of the files that are made in DIRECTORY. The program prints "ready", or why it
can't mount the file system, which needs root, and ends when the file system is unmounted or its input ends.
"""
import ctypes
import errno
import os
import struct
import sys
import threading

MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4
LOOKUP, FORGET, GETATTR, READLINK, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, BATCH = (
    1, 2, 3, 5, 14, 15, 17, 18, 25, 26, 27, 28, 29, 42)

directory, mountpoint = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)


def mount():
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    if libc.mount(b"mirror", mountpoint.encode(), b"fuse", MS_RDONLY | MS_NOSUID | MS_NODEV,
                  options.encode()):
        raise OSError(ctypes.get_errno(), "mount")
    return device


def unmount():
    sys.stdin.read()
    libc.umount2(mountpoint.encode(), 2)
    os._exit(0)


try:
    device = mount()
except OSError as error:
    print(error.strerror, flush=True)
    sys.exit()
threading.Thread(target=unmount, daemon=True).start()
print("ready", flush=True)

# The path of each node, and the node of each file.
names, nodes = {1: ""}, {}


def attributes(node, status):
    times = [status.st_atime_ns, status.st_mtime_ns, status.st_ctime_ns]
    return struct.pack(
        "<6Q10I", node, status.st_size, status.st_blocks, *(time // 10**9 for time in times),
        *(time % 10**9 for time in times), status.st_mode, status.st_nlink, status.st_uid,
        status.st_gid, 0, 4096, 0)


def answer(operation, node, body):
    """Returns the answer to a request, without any time for which the kernel may keep it."""
    path = os.path.join(directory, names.get(node, ""))
    if operation == INIT:
        return struct.pack("<4I2H2I2HI", 7, 31, 65536, 0, 12, 10, 65536, 1, 0, 0, 0) + bytes(28)
    if operation == LOOKUP:
        name = os.path.join(names.get(node, ""), body.rstrip(b"\0").decode())
        status = os.lstat(os.path.join(directory, name))
        child = nodes.setdefault((name, status.st_ino), len(nodes) + 2)
        names[child] = name
        return struct.pack("<4Q2I", child, 0, 0, 0, 0, 0) + attributes(child, status)
    if operation == GETATTR:
        return struct.pack("<Q2I", 0, 0, 0) + attributes(node, os.lstat(path))
    if operation == READLINK:
        return os.readlink(path).encode()
    if operation == READDIR:
        file, offset, size = struct.unpack("<2QI", body[:20])
        entries = b""
        for index, name in enumerate([".", "..", *sorted(os.listdir(file))][offset:], offset + 1):
            entry = struct.pack("<2Q2I", index, index, len(name.encode()), 0) + name.encode()
            entry += bytes(-len(entry) % 8)
            if len(entries) + len(entry) > size:
                break
            entries += entry
        return entries
    if operation in (OPEN, OPENDIR):
        # 1 is for reads that the kernel doesn't cache.
        return struct.pack("<Q2I", os.open(path, os.O_RDONLY), operation == OPEN, 0)
    if operation == READ:
        file, offset, size = struct.unpack("<2QI", body[:20])
        return os.pread(file, size, offset)
    if operation in (RELEASE, RELEASEDIR):
        os.close(struct.unpack("<Q", body[:8])[0])
        return b""
    if operation == STATFS:
        return bytes(80)
    if operation == FLUSH:
        return b""
    raise OSError(errno.ENOSYS, "")


while True:
    try:
        request = os.read(device, 1 << 18)
    except OSError as error:
        if error.errno != errno.ENODEV:
            raise
        break
    _, operation, number, node = struct.unpack("<2I2Q", request[:24])
    if operation in (FORGET, BATCH):
        continue
    failure, data = 0, b""
    try:
        data = answer(operation, node, request[40:])
    except OSError as error:
        failure = -error.errno
    os.write(device, struct.pack("<IiQ", 16 + len(data), failure, number) + data)
