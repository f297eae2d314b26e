"""Measures the contenders of an operation, and computes figures: a median with its quartiles."""

import collections
import dataclasses
import statistics

import instructions
import messages
from contenders import Program, Worker, timed
from operations import ALL, COLD_START, EMPTY, ON_KEYRING, PASSWORD, SERVER, is_counted

Figure = collections.namedtuple("Figure", "lower median upper")


def measured(name, quick):
    """Returns the times of each contender, and what is counted of it."""
    operation = ALL[name]
    operation.prepare()
    rounds = 2 if quick else 20
    contenders = [
        Program(contender, command, SERVER, "" if contender in EMPTY else PASSWORD)
        if operation is COLD_START else Worker(contender, command)
        for contender, command in operation.contenders.items()]
    times = timed(contenders, rounds, 1 if quick else max(1, operation.counted // rounds), operation.warm)
    answer = {}
    for contender, command in operation.contenders.items():
        answer[contender] = {"time": times[contender]}
        if is_counted(command):
            answer[contender] |= counted(name, contender, 1 if quick else 3)
    return answer


def counted(name, contender, runs):
    """Returns the instructions of some runs, and what is sent."""
    operation = ALL[name]
    answer = {"instructions": [instructions.count(name, contender) for _ in range(runs)]}
    if name in ON_KEYRING:
        command = instructions.counting(operation.contenders[contender])
        sent = messages.sent(command, operation.warm, operation.counted, instructions.MARK)
        answer |= dataclasses.asdict(sent)
    return answer


def figure(values):
    if len(values) == 1:
        return Figure(*values * 3)
    return Figure(*statistics.quantiles(values, n=4, method="inclusive"))


def time(found):
    """Returns the nanoseconds of one operation, over all rounds."""
    return figure([time for times in found["time"] for time in times])


def ratio(found, reference, what):
    """Returns a contender's time divided by the reference's in the same round, or its instructions of a run."""
    pairs = zip(found[what], reference[what])
    if what == "time":
        pairs = ((statistics.median(own), statistics.median(other)) for own, other in pairs)
    return figure([own / other for own, other in pairs])
