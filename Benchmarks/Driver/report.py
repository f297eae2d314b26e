"""Writes the tables as Markdown that you can also read in a terminal."""

import statistics

import figures
import instructions
import pending
from targets import TARGETS
from works import WORKS


def amount(nanoseconds):
    """Returns a time with three digits, in the unit that fits."""
    for unit, size in [("ns", 1), ("µs", 1e3), ("ms", 1e6)]:
        if abs(nanoseconds) < 999.5 * size or unit == "ms":
            return f"{digits(nanoseconds / size)} {unit}"


def digits(value):
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}"


def spread(figure, shown=digits):
    return f"{shown(figure.median)} ({shown(figure.lower)} – {shown(figure.upper)})"


def table(rows):
    """Returns the lines of a table in Markdown. The first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
        for row in rows
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:], ""]


def of_work(name, cases):
    work = WORKS[name]
    lines = [f"## {work.title}", ""]
    if work.note:
        lines += [work.note, ""]
    for case in cases:
        if case["title"]:
            lines += [f"### {case['title']}", ""]
        figure = "per second" if work.shows == "rate" else "time"
        memory = case.get("memory", {})
        rows = [["contender", figure, f"ratio to {case['reference']}", *["memory"][:len(memory)]]]
        for contender in case["times"]:
            time = figures.time(case, contender)
            shown = spread(time.inverse(1e9)) if work.shows == "rate" else spread(time, amount)
            ratio = figures.ratio(case, contender, case["reference"])
            if work.shows == "rate":
                ratio = ratio.inverse(1)
            is_reference = contender == case["reference"]
            used = [f"{memory[contender] / (1 << 20):.0f} MiB"] if memory else []
            rows.append([contender, shown, "1" if is_reference else spread(ratio), *used])
        lines += table(rows)
    return lines


COLUMNS = ["contender", "waits", "messages", "bytes", "instructions", "ratio to C", "ratio to the floor", "allocations",
           "time"]


def of_counts(counted):
    """Returns what each operation needs, in the order of how little it depends on the machine."""
    lines = ["## What each operation needs", "", (
        "The floor sends the same messages with GLib alone. C does the same work with libsecret. Callgrind counts the "
        "instructions of all threads of the program, but not the keyring's."), ""]
    for name, contenders in counted.items():
        operation = instructions.OPERATIONS[name]
        totals = {contender: instructions.total(found["owners"]) for contender, found in contenders.items()}
        rows = [COLUMNS]
        for contender, found in contenders.items():
            sent = [f"{number:,}" for number in found["sent"].values()] if "sent" in found else ["0"] * 3
            ratios = [
                "1" if contender == other else f"{totals[contender] / totals[other]:.3f}" if other in totals else "–"
                for other in (operation.reference, instructions.FLOOR)]
            allocations = sum(number for _, number in found["owners"].values())
            time = amount(statistics.median(found["times"]))
            rows.append([contender, *sent, f"{totals[contender]:,.0f}", *ratios, f"{allocations:,.1f}", time])
        lines += [f"### {operation.title}", "", *table(rows)]
    if "read" in counted:
        lines += ["### The owners of a read's instructions", "", *owners_table(counted["read"])]
    return lines


def owners_table(contenders):
    """Returns the instructions by the owner of the code that they're in."""
    rows = [["owner", *contenders]]
    for owner in [*(owner for owner, _ in instructions.OWNERS), instructions.THE_REST]:
        rows.append([owner, *(f"{found['owners'][owner][0]:,.0f}" for found in contenders.values())])
    return table(rows)


def of_starting(counted):
    lines = ["## Cold start, in instructions", "", (
        "Callgrind counts the whole program. The library loads libsecret in `main`, the C program before it. An empty "
        "Swift program knows `Date`, as the library does. Each look-up of a symbol searches the loaded libraries."), ""]
    reference = sum(next(iter(counted.values()))["instructions"])
    rows = [["contender", "before main", "in main", "after main", "all", "more than C", "look-ups at start", "all look-ups"]]
    for contender, found in counted.items():
        total = sum(found["instructions"])
        numbers = [*found["instructions"], total]
        rows.append([
            contender, *(f"{number:,}" for number in numbers), f"{total - reference:,}" if total > reference else "–",
            *(f"{number:,}" for number in found["look-ups"])])
    return lines + table(rows)


def of_pending(counted):
    lines = [f"## {counted['count']:,} reads that wait for a stopped keyring", "", (
        "A signal stops the keyring's process. For each figure, the table has the median and the worst "
        f"of {len(counted['runs'])} runs."), ""]
    rows = [["figure", "median", "worst", "at most"]]
    for (title, most, size, unit), numbers in zip(pending.FIGURES, zip(*counted["runs"])):
        median, worst = (f"{number / size:,.0f}{unit}" for number in
                         (statistics.median(numbers), max(numbers)))
        rows.append([title, median, worst, f"{most}{unit}"])
    return lines + table(rows)


def of_targets(results):
    # Without all works, only those count that were requested.
    is_whole = len(results) >= len(WORKS)
    return targets_table(
        results, [target for target in TARGETS if is_whole or target.work in results])


def targets_table(results, targets):
    rows = [["operation", "contender", "compared to", "at most", "measured", "reached"]]
    missed = {}  # by the reason
    for target in targets:
        figure = target.reached(results)
        shown = digits if target.reference else amount
        if figure is None:
            verdict = "not measured"
        elif figure.median <= target.most:
            verdict = "yes"
        else:
            verdict = "**no**"
            bound = target.bound or "There is no explanation yet."
            missed.setdefault(bound, []).append(f"{target.title}, {against(target)}")
        rows.append([
            target.title, target.contender, compared(target) or "–", shown(target.most),
            spread(figure, shown) if figure else "–", verdict,
        ])
    if len(rows) == 1:
        return []
    lines = ["## Targets", "", *table(rows)]
    if missed:
        explanations = [f"- {'; '.join(titles)}: {bound}" for bound, titles in missed.items()]
        lines += ["Reasons why targets aren't reached:", "", *explanations, ""]
    return lines


def compared(target):
    return f"{target.beyond}, as a difference" if target.beyond else target.reference


def against(target):
    return f"compared to {compared(target)}" if compared(target) else amount(target.most)


def tables(results):
    lines = []
    # What depends least on the machine comes first.
    for name, cases in sorted(results.items(), key=lambda result: result[0] != "instructions"):
        special = {"instructions": of_counts, "starting": of_starting, "pending": of_pending}
        lines += special[name](cases) if name in special else of_work(name, cases)
    return lines


def report(results, machine):
    head = f"""# Benchmarks

`Scripts/benchmark` writes this report. Don't edit it by hand. The keyring is a gnome-keyring in a private
session. In each round, every contender takes its turn, in an order that changes. Each contender checks that
it read or wrote the right value. A figure is the median over all rounds, with the quartiles in brackets. A
ratio is taken within each round, so other load on the machine affects both of its sides. Times apply only
to this machine. Waits, messages, bytes and instructions hardly depend on it, so they come first, and the targets of
operations on a keyring are in instructions. The article [Performance](../Sources/Keyring/Documentation.docc/Performance.md) lists the
messages that each use sends. Tests count these messages.

![The ratios as a chart](REPORT.svg)
"""
    rows = [["name", "value"], *([what, which or "unknown"] for what, which in machine)]
    return "\n".join([head, *of_targets(results), *tables(results), "## Machine and versions", "", *table(rows)])
