"""The contenders: processes that get their orders from a pipe, and programs that run and exit."""

import os
import random
import subprocess
import time


class Failure(Exception):
    pass


class Worker:
    """A process that performs a number of operations, and answers with their times.

    The process measures the times itself, so they don't include the pipe or the driver.
    """

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def measure(self, operations):
        """Returns the nanoseconds that each operation took."""
        try:
            self.process.stdin.write(f"{operations}\n")
            self.process.stdin.flush()
            times = [float(word) for word in self.process.stdout.readline().split()]
        except BrokenPipeError:
            times = []
        if len(times) != operations:
            raise Failure(f"{self.name} didn't return all times")
        return times

    def close(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise Failure(f"{self.name} ended with status {self.process.returncode}")


class Program:
    """A program that prints what is expected and exits. Its time is from its start until it has exited."""

    def __init__(self, name, command, given, expected):
        self.name = name
        self.command = command
        self.given = given
        self.expected = expected

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
        if status != 0 or self.expected not in answer.decode():
            raise Failure(f"{self.name} didn't read the password (status {status})")
        return end - start

    def close(self):
        pass


def timed(contenders, rounds, operations, warm):
    """Returns the nanoseconds of each operation, by contender and round.

    Other load on the machine slows down all contenders of a round in the same way. Their order changes from
    round to round.
    """
    times = {contender.name: [] for contender in contenders}
    for contender in contenders:
        # This takes care of everything that a contender does only once.
        contender.measure(warm)
    for _ in range(rounds):
        for contender in random.sample(contenders, len(contenders)):
            times[contender.name].append(contender.measure(operations))
    for contender in contenders:
        contender.close()
    return times
