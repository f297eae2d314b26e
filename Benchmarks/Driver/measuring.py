"""Measures rounds in which the contenders take turns."""

import pathlib
import random

from works import COLD_START, STATIC, SWIFT

QUICK_ROUNDS = 2


def measured(work, quick):
    """Returns the times of all rounds of all cases of a work.

    Other load on the machine slows down all contenders of a round in the same way. Their order changes from
    round to round.
    """
    cases = []
    for case in work.cases(quick):
        case.prepare()
        rounds = QUICK_ROUNDS if quick else case.rounds or work.rounds
        operations = 1 if quick else case.operations
        times = {contender.name: [] for contender in case.contenders}
        if rounds > 1:
            for contender in case.contenders:
                # This takes care of everything that a contender does only once.
                contender.measure(1 if quick else max(case.operations, 3))
        for _ in range(rounds):
            for contender in random.sample(case.contenders, len(case.contenders)):
                times[contender.name].append(contender.measure(operations))
        memory = {}
        for contender in case.contenders:
            if case.shows_memory:
                memory[contender.name] = contender.most_memory()
            contender.close()
        ours = [contender.name for contender in case.contenders if is_ours(contender)]
        cases.append(
            {"title": case.title, "reference": case.reference, "ours": ours, "times": times,
             "memory": memory})
    return cases


def is_ours(contender):
    return pathlib.Path(contender.command[0]).parent in (SWIFT, COLD_START, STATIC)
