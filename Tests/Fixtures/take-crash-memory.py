# Crashes a program that asks "Secret: " and "Again: ", at its second question, and looks for the answer in its memory.
#
#   take-crash-memory.py SIGNAL PROGRAM [ARGUMENT ...]
#
# After a crash, Swift's runtime starts swift-backtrace, which reads the memory of the program through a socket. Another
# program of the user can take that socket, also if the program itself is closed to debuggers. As root, the script
# does that as another user. It prints how the program ended, or how many pages with the answer it has read.
import ctypes
import os
import pty
import signal
import socket
import struct
import sys

ANSWER = b"t0p s3cret of a crash"
PAGE = 4096
PIDFD_OPEN, PIDFD_GETFD, PR_SET_DUMPABLE = 434, 438, 4
# The number of the socket in swift-backtrace
SERVER = 4

libc = ctypes.CDLL(None)
number = int(sys.argv[1])
# The program would inherit what a test's thread blocks, and what a shell in the background ignores.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.signal(number, signal.SIG_DFL)
# Another user may have no access to its directory.
file = os.open(sys.argv[2], os.O_RDONLY)
os.set_inheritable(file, True)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(2)
    os.setuid(2)
    # Otherwise the program would be closed from its start.
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
# It waits for a key, which gives the time to find it.
os.environ["SWIFT_BACKTRACE"] = "enable=yes,interactive=yes"
program, terminal = pty.fork()
if program == 0:
    os.execv("/proc/self/fd/%d" % file, sys.argv[2:])


def wait_for(text):
    seen = b""
    while text not in seen:
        seen += os.read(terminal, PAGE)


def backtracer():
    """Returns the number of swift-backtrace, and the address that it begins with."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as stat, open("/proc/%s/cmdline" % name, "rb") as line:
                parent = int(stat.read().rsplit(")", 1)[1].split()[1])
                words = line.read().split(b"\0")
        except OSError:
            continue
        if parent == program and b"--crashinfo" in words:
            return int(name), int(words[words.index(b"--crashinfo") + 1], 16)
    return None


def receive(server, count):
    data = b""
    while len(data) < count:
        data += server.recv(count - len(data)) or sys.exit("The memory is closed.")
    return data


def page(server, address):
    server.sendall(struct.pack("<QQ", address, PAGE))
    count = struct.unpack("<Qq", receive(server, 16))[1]
    return receive(server, count) if count > 0 else b""


wait_for(b"Secret: ")
os.write(terminal, ANSWER + b"\n")
wait_for(b"Again: ")
os.kill(program, number)
while not (found := backtracer()):
    ended, status = os.waitpid(program, os.WNOHANG)
    if ended:
        print(os.waitstatus_to_exitcode(status))
        sys.exit()
child, start = found
os.kill(child, signal.SIGSTOP)
while open("/proc/%d/stat" % child).read().rsplit(")", 1)[1].split()[0] != "T":
    pass
server = socket.socket(fileno=libc.syscall(PIDFD_GETFD, libc.syscall(PIDFD_OPEN, child, 0), SERVER, 0))
# An answer to the other program may come first.
server.sendall(struct.pack("<QQ", start + 1, 1))
seen = b""
while not seen.endswith(struct.pack("<Qq", start + 1, 1)):
    seen += receive(server, 1)
receive(server, 1)
# Whatever looks like an address leads to another page.
waiting, seen, hits = [start & -PAGE], set(), 0
while waiting:
    data = page(server, waiting.pop())
    hits += ANSWER in data
    for word in struct.unpack("<%dQ" % (len(data) // 8), data[: len(data) & -8]):
        address = word & -PAGE
        if PAGE <= address < 1 << 47 and address not in seen:
            seen.add(address)
            waiting.append(address)
print("%d pages with the answer" % hits)
os.kill(child, signal.SIGKILL)
os.kill(program, signal.SIGKILL)
