"""Writes the tables as Markdown that you can also read in a terminal."""

import figures
from operations import ALL

HEAD = """# Benchmarks

`Scripts/benchmark` writes this report. Don't edit it by hand. The keyring is a gnome-keyring in a private session.
Callgrind counts the instructions of all threads of the program, but not the keyring's. C does the same work with
libsecret. Beside it, sd-bus sends C's messages and nothing else, without encryption, which is what the bus alone costs.
This library and libsecret send theirs by GLib, whose own work is most of their instructions. In each round, every
contender takes its turn, in an order that changes. Each contender checks that it read or wrote the right value. A
figure is the median over all rounds, with the quartiles in brackets. A ratio is taken within each round, so other load
on the machine affects both of its sides. Times apply only to this machine. Waits, messages, bytes and instructions
hardly depend on it, so they come first, and the gate compares the instructions with recorded ones. The article
[Performance](../Sources/Keyring/Documentation.docc/Performance.md) lists the messages that each use sends. Tests count
these messages.

Tables of lines, items, properties and keys are about growth. What each of them takes must not grow with their number.
gnome-keyring's own processor time is in the last column. It writes all of its items for each new one.

![The ratios as a chart](REPORT.svg)
"""


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


def of_operation(name, found):
    """Returns what each contender needs, in the order of how little it depends on the machine."""
    operation = ALL[name]
    lines = [f"## {operation.title}", ""]
    if operation.note:
        lines += [operation.note, ""]
    rows = [row(contender, found, operation.reference) for contender in found]
    # A column that no contender has is left out.
    columns = list(dict.fromkeys(column for cells in rows for column in cells))
    return lines + table([columns, *([cells.get(column, "–") for column in columns] for cells in rows)])


def row(contender, found, reference):
    """Returns the cells of a contender, by the heads of their columns."""
    own = found[contender]
    cells = {"contender": contender}
    cells |= {column: f"{own[column]:,}" for column in ("waits", "messages", "bytes") if column in own}
    if "instructions" in own:
        cells["instructions"] = f"{figures.figure(own['instructions']).median:,.0f}"
        if reference:
            ratio = figures.ratio(own, found[reference], "instructions").median
            cells[f"ratio to {reference}"] = "1" if contender == reference else f"{ratio:.3f}"
    cells["time"] = spread(figures.time(own), amount)
    if reference:
        ratio = figures.ratio(own, found[reference], "time")
        cells["ratio of the times"] = "1" if contender == reference else spread(ratio)
    return cells


def report(head, lines, machine):
    rows = [["name", "value"], *([what, which or "unknown"] for what, which in machine)]
    return "\n".join([head, *lines, "## Machine and versions", "", *table(rows)])
