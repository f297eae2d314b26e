"""The contenders: processes that get their orders from a pipe, and programs that run and exit."""

import os
import subprocess
import time


class Failure(Exception):
    pass


class Worker:
    """A process that performs a number of operations, and answers with their times.

    The process measures the times itself, so they don't include the pipe or the driver.
    """

    def __init__(self, name, command, most=1_000):
        self.name = name
        self.command = command
        self.most = most  # the maximum number of operations in a round
        self.process = None

    def measure(self, operations):
        """Returns the nanoseconds that each operation took."""
        operations = min(operations, self.most)
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            self.process.stdin.write(f"{operations}\n")
            self.process.stdin.flush()
            times = [float(word) for word in self.process.stdout.readline().split()]
        except BrokenPipeError:
            times = []
        if len(times) != operations:
            raise Failure(f"{self.name} didn't return all times")
        return times

    def most_memory(self):
        """Returns the peak memory of the process in bytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            lines = dict(line.split(":", 1) for line in status)
        return int(lines["VmHWM"].split()[0]) * 1024

    def close(self):
        if self.process is None:
            return
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise Failure(f"{self.name} ended with status {self.process.returncode}")


class Program:
    """A program that reads one password and exits. Its time is from its start until it has exited."""

    def __init__(self, name, command, expected, given=""):
        self.name = name
        self.command = command
        self.expected = expected
        self.given = given

    def measure(self, operations):
        """Returns the nanoseconds that each run took."""
        return [self._run() for _ in range(operations)]

    def _run(self):
        given, writer = os.pipe()
        os.write(writer, self.given.encode())
        os.close(writer)
        reader, output = os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, output, 1)]
        start = time.monotonic_ns()
        process = os.posix_spawn(self.command[0], self.command, os.environ, file_actions=actions)
        os.close(output)
        answer = b""
        while piece := os.read(reader, 4096):
            answer += piece
        _, status = os.waitpid(process, 0)
        end = time.monotonic_ns()
        os.close(given)
        os.close(reader)
        if status != 0 or answer.decode().strip() != self.expected:
            raise Failure(f"{self.name} didn't read the password (status {status})")
        return end - start

    def close(self):
        pass
