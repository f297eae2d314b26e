"""Rounds in which the contenders take turns."""

import pathlib
import random

from works import STATIC, SWIFT

QUICK_ROUNDS = 2


def measured(work, quick):
    """All rounds of all cases of a work.

    What else the machine does slows down all contenders of a round alike, and their order changes
    from round to round.
    """
    cases = []
    for case in work.cases(quick):
        case.prepare()
        rounds = QUICK_ROUNDS if quick else case.rounds or work.rounds
        operations = 1 if quick else case.operations
        times = {contender.name: [] for contender in case.contenders}
        if rounds > 1:
            for contender in case.contenders:
                contender.measure(1 if quick else max(case.operations, 3))  # what is done only once
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
    return pathlib.Path(contender.command[0]).parent in (SWIFT, STATIC)
