"""Draws the ratios. Bars go to the left if they're less than C's, and to the right if they're more."""

import math
from xml.sax.saxutils import escape

import figures
from operations import ALL, ON_KEYRING, ONE_QUERY, PROPERTY, READ_ALL, STATIC_PROGRAM, SWIFT_PROGRAM
from report import digits

OUR_NAMES = {PROPERTY, ONE_QUERY, READ_ALL, SWIFT_PROGRAM, STATIC_PROGRAM}
LABELS, BARS, ROW, MARGIN = 290, 470, 20, 16
LOWEST, HIGHEST = 0.05, 50.0
OURS, THEIRS, TEXT = "#d9480f", "#868e96", "#212529"


def x(ratio):
    position = math.log(min(max(ratio, LOWEST), HIGHEST) / LOWEST) / math.log(HIGHEST / LOWEST)
    return LABELS + BARS * position


def text(left, top, content, anchor="start", weight="normal"):
    return (f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}" font-weight="{weight}">'
            f"{escape(content)}</text>")


def line(left, top, right, bottom, color, width=1.0):
    return (f'<line x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}" '
            f'stroke="{color}" stroke-width="{width}"/>')


def bar(top, name, ratio, color):
    left, right = sorted((x(1), x(ratio.median)))
    middle = top + ROW / 2
    return [
        text(LABELS - 8, middle + 4, name, "end"),
        f'<rect x="{left:.1f}" y="{top + 3}" width="{right - left:.1f}" height="{ROW - 6}" '
        f'fill="{color}"/>',
        line(x(ratio.lower), middle, x(ratio.upper), middle, TEXT),
        text(max(right, x(ratio.upper)) + 5, middle + 4, digits(ratio.median)),
    ]


def groups(results):
    """Returns the title, the reference and the bars of each group: name, ratio and color."""
    for what in ("instructions", "time"):
        for name in [*ON_KEYRING, "cold-start"]:
            reference = ALL[name].reference
            found = results[name]
            if what not in found[reference]:
                continue
            yield f"{ALL[name].title}: {what}", reference, [
                (contender, figures.ratio(own, found[reference], what),
                 OURS if contender in OUR_NAMES else THEIRS)
                for contender, own in found.items() if contender != reference and what in own]


def chart(results):
    bars, top = [], 74
    for title, reference, shown in groups(results):
        bars.append(text(MARGIN, top + 14, title, weight="bold"))
        bars.append(text(LABELS + BARS + 60, top + 14, f"1 = {reference}", "end"))
        top += ROW
        for name, *rest in shown:
            bars += bar(top, name, *rest)
            top += ROW
        top += 10
    grid = []
    for ratio in (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50):
        grid.append(line(x(ratio), 66, x(ratio), top, TEXT if ratio == 1 else "#dee2e6"))
        grid.append(text(x(ratio), 60, f"{ratio:g}", "middle"))
    width, height = LABELS + BARS + 60 + MARGIN, top + MARGIN
    title = "Instructions and time of an operation relative to C, on a logarithmic scale. Left is less."
    colors = "Orange: this library. Gray: others."
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12" fill="{TEXT}">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(MARGIN, 22, title, weight="bold"), text(MARGIN, 38, colors), *grid, *bars, "</svg>", "",
    ])
