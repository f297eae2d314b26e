"""The tables, as Markdown that can be read in a terminal too."""

import statistics

import figures
import pending
from targets import TARGETS
from works import WORKS


def amount(nanoseconds):
    """Three digits, in the unit that fits."""
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
    """Rows of Markdown, the first one being the head."""
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


def of_instructions(counted):
    lines = ["## Instructions of one read", "", (
        "Counted by callgrind, by whose code they are in; allocations by who asks the C library for "
        "memory."), ""]
    for kind, title in enumerate(["instructions", "allocations"]):
        rows = [[title, *counted]]
        for owner in next(iter(counted.values())):
            counts = [by_owner[owner][kind] for by_owner in counted.values()]
            rows.append([owner, *(f"{count:,.0f}" for count in counts)])
        totals = [sum(count[kind] for count in by.values()) for by in counted.values()]
        rows.append(["all", *(f"{total:,.0f}" for total in totals)])
        lines += table(rows)
    return lines


def of_pending(counted):
    lines = [f"## {counted['count']:,} reads that wait for a keyring that has stopped", "", (
        "The keyring's process is stopped by a signal. Each figure is the median of "
        f"{len(counted['runs'])} runs, and the worst of them."), ""]
    rows = [["figure", "median", "worst", "at most"]]
    for (title, most, size, unit), numbers in zip(pending.FIGURES, zip(*counted["runs"])):
        median, worst = (f"{number / size:,.0f}{unit}" for number in
                         (statistics.median(numbers), max(numbers)))
        rows.append([title, median, worst, f"{most}{unit}"])
    return lines + table(rows)


def of_targets(results):
    rows = [["what", "contender", "against", "at most", "measured", "reached"]]
    missed = {}  # by what bounds them
    for target in TARGETS:
        if target.work not in results and len(results) < len(WORKS):
            continue  # it was not asked for
        figure = target.reached(results)
        shown = digits if target.reference else amount
        if figure is None:
            verdict = "not measured"
        elif figure.median <= target.most:
            verdict = "yes"
        else:
            verdict = "**no**"
            bound = target.bound or "not explained yet."
            missed.setdefault(bound, []).append(f"{target.title}, {against(target)}")
        rows.append([
            target.title, target.contender, compared(target) or "–", shown(target.most),
            spread(figure, shown) if figure else "–", verdict,
        ])
    if len(rows) == 1:
        return []
    lines = ["## What was to be reached", "", *table(rows)]
    if missed:
        explanations = [f"- {'; '.join(titles)}: {bound}" for bound, titles in missed.items()]
        lines += ["What bounds the figures that were not reached:", "", *explanations, ""]
    return lines


def compared(target):
    return f"time beyond {target.beyond}" if target.beyond else target.reference


def against(target):
    return f"against {compared(target)}" if compared(target) else amount(target.most)


def tables(results):
    lines = []
    for name, cases in results.items():
        special = {"instructions": of_instructions, "pending": of_pending}
        lines += special[name](cases) if name in special else of_work(name, cases)
    return lines


def report(results, machine):
    head = f"""# Benchmarks

Made by `Scripts/benchmark`, not by hand. The keyring is a gnome-keyring in a session of its own. In
each round every contender takes its turn, in an order that changes; each checks that what it read
or wrote is right. A figure is the median over all rounds, with the quartiles in brackets; a ratio is
taken within each round, so that what else the machine did meanwhile falls on both sides of it.
Times tell something about this machine only. How many messages each use sends is in the article
[Performance](../Sources/Keyring/Documentation.docc/CostOfAccess.md), and counted by tests.

![The ratios as a chart](REPORT.svg)
"""
    rows = [["on", ""], *([what, which or "unknown"] for what, which in machine)]
    return "\n".join([head, *of_targets(results), *tables(results), "## Machine and versions", "", *table(rows)])
