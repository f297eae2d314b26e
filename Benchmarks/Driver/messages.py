"""Counts the waits, the messages and the bytes of each operation, from a trace of a contender's system calls.

GLib and sd-bus send each message with one call. They receive the head of each message with another: GLib 16 bytes of it,
and sd-bus 24.
"""

import dataclasses
import re
import subprocess
import tempfile

from contenders import Failure

SENT = re.compile(r"sendmsg\(.*?iov_base=\"((?:\\x[0-9a-f]{2}){4})")
RECEIVED = re.compile(r"recvmsg\(.*?iov_base=\"((?:\\x[0-9a-f]{2}){4})")
RESULT = re.compile(r"\) = (\d+)$")
UNFINISHED = re.compile(r"^(\d+) +(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. \w+ resumed>(.*)$")

METHOD_CALL, METHOD_RETURN, ERROR = 1, 2, 3
HEADS = (16, 24)


@dataclasses.dataclass
class Sent:
    waits: int = 0
    messages: int = 0
    bytes: int = 0


def sent(command, warm, counted, mark):
    """Returns what a contender sends in each of its operations."""
    with tempfile.NamedTemporaryFile("r") as trace:
        strace = ["strace", "-f", "-qq", "-xx", "-s", "4", "-o", trace.name, "-e", f"trace=sendmsg,recvmsg,{mark}",
                  "-e", "signal=none"]
        run = subprocess.run(
            [*strace, *command], input=f"{warm}\n{counted}\n", text=True, capture_output=True)
        if run.returncode != 0:
            raise Failure(f"{command} under strace: {run.stderr}")
        total = between_marks(finished(trace), mark)
    # On a busy machine, an answer may arrive before the next message is sent, which then looks like another wait.
    return Sent(total.waits // counted, *(round(number / counted) for number in (total.messages, total.bytes)))


def finished(lines):
    """Returns the calls in a trace without the number of their thread, each as it was when it ended."""
    started = {}
    for line in lines:
        line = line.rstrip("\n")
        if match := UNFINISHED.match(line):
            started[match[1]] = match[2]
        elif match := RESUMED.match(line):
            yield started.pop(match[1]) + match[2]
        else:
            yield line.partition(" ")[2].lstrip()


def between_marks(calls, mark):
    """Returns what was sent between the last two marks.

    A wait begins with a method call that is sent while no other waits for its answer.
    """
    total, unanswered = Sent(), 0
    marks = 0
    for call in calls:
        if call.startswith(mark):
            marks += 1
            if marks == 3:
                total, unanswered = Sent(), 0
            if marks == 4:
                return total
        count = RESULT.search(call)
        if count is None:
            continue
        if match := SENT.search(call):
            total.messages += 1
            total.bytes += int(count[1])
            if kind(match[1]) == METHOD_CALL:
                total.waits += unanswered == 0
                unanswered += 1
        elif (match := RECEIVED.search(call)) and int(count[1]) in HEADS and kind(match[1]) in (METHOD_RETURN, ERROR):
            # The answer to a call before the mark may come after it.
            unanswered = max(0, unanswered - 1)
    raise Failure("the trace has too few marks")


def kind(escaped):
    """Returns the type of the message with this beginning."""
    return bytes.fromhex(escaped.replace("\\x", ""))[1]
