"""Writes the figures of the fleet's storage as Markdown, and draws its plot."""

import math
import statistics

import figures
import fleet
from chart import OURS, TARGET, TEXT, THEIRS, line, text
from report import amount, spread, table, targets_table
from targets import CHANGE_BOUND, FLEET_TARGETS

MILLISECOND = 1e6


def report(measured, machine):
    head = f"""# A fleet's secrets: benchmarks

`Scripts/benchmark --fleet` writes this report. Don't edit it by hand. The cluster has three nodes of etcd with
encrypted connections, whose data is in memory. It runs on this machine, and so do all processes. The reference
is the same HTTP client, which sends the same requests to the same node without the library. A figure is the
median over all rounds, with the quartiles in brackets.

![How long other processes wait for a new value](FLEET.svg)
"""
    rows = [["name", "value"], *([what, which or "unknown"] for what, which in machine)]
    return "\n".join([head, *tables(measured), "## Machine and versions", "", *table(rows)])


def tables(measured):
    return [*of_targets(measured), *of_requests(measured["requests"]), *of_changes(measured),
            *of_watchers(measured["watchers"]), *of_lists(measured["items"]), *of_items(measured["items"])]


def of_targets(measured):
    steady = [latency for latencies in measured["steady"] for latency in latencies]
    changes = [{"title": "change", "reference": "", "ours": [], "times": {fleet.CACHED: [steady]}}]
    lists = [run["lists"] for run in measured["items"]]
    return targets_table({"fleet": measured["requests"] + lists + changes}, FLEET_TARGETS)


def of_requests(cases):
    lines = ["## Requests", ""]
    rows = [["operation", "contender", "time", "ratio"]]
    for case in cases:
        for name in case["times"]:
            ratio = figures.ratio(case, name, case["reference"])
            rows.append([
                case["title"], name, spread(figures.time(case, name), amount),
                "1" if name == case["reference"] else spread(ratio)])
    return lines + table(rows)


def of_changes(measured):
    steady = [latency for latencies in measured["steady"] for latency in latencies]
    dying = death_of_leader(measured)
    lines = [f"## From a write to {measured['processes']} other processes", "", (
        "The time is from the beginning of a write in one process until another process has read the new value "
        "from its cache, which the cluster's event has brought. While the leader dies, the write itself waits "
        "for the election of another leader (election timeout 500 ms)."), "", CHANGE_BOUND, ""]
    rows = [["", "median", "90 %", "99 %", "worst"]]
    for title, times in [(f"{len(measured['steady'])} writes, one after another", steady),
                         ("the write after the leader was killed", dying["latencies"])]:
        rows.append([title, *(amount(value) for value in (
            statistics.median(times), quantile(times, 0.9), quantile(times, 0.99), max(times)))])
    return lines + table(rows)


def death_of_leader(measured):
    """Returns the first write after the death."""
    dying = measured["dying"]
    return next(write for write in dying["writes"] if write["moment"] >= dying["death"])


def quantile(values, part):
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def of_watchers(runs):
    lines = ["## Watchers", "", (
        "Each watcher is a storage with connections of its own, in at most 50 processes. The table has the time "
        "from a write until a watcher has the new value, and the processor time that a change costs the three "
        "nodes and the watching processes, for each watcher. Every five seconds, each watcher asks its node whether "
        "it still answers, which costs the nodes the time in the column \"question\"."), ""]
    rows = [["watchers", "median", "worst", "nodes", "watcher", "question", "memory of a node"]]
    for run in runs:
        rows.append([
            f"{run['watchers']:,}", amount(statistics.median(run["latencies"])),
            amount(max(run["latencies"])), amount(run["nodes"]), amount(run["followers"]),
            amount(run["question"]), f"{run['memory'] / (1 << 20):.0f} MiB"])
    return lines + table(rows)


def of_lists(runs):
    lines = ["## Lists of all items", "", (
        "The HTTP client alone asks for the same pages, one after the other, and looks at none. The library also "
        "decodes, decrypts and checks each item, and keeps it with its secret. It decrypts a page while the next one "
        "is under way. The memory is the most that the process has used."), ""]
    rows = [["items", "contender", "time", "ratio", "memory"]]
    for run in runs:
        case = run["lists"]
        for name in case["times"]:
            ratio = figures.ratio(case, name, case["reference"])
            rows.append([
                f"{run['items']:,}", name, spread(figures.time(case, name), amount),
                "1" if name == case["reference"] else spread(ratio), f"{case['memory'][name] / (1 << 20):.0f} MiB"])
    return lines + table(rows)


def of_items(runs):
    lines = ["## Items", "", (
        "A process lists all items before its first cached read, and again about every ten minutes. In between, it "
        "only reads what has changed."), ""]
    rows = [["items", "first cached read", "memory of the process", "read of one item"]]
    for run in runs:
        rows.append([
            f"{run['items']:,}", spread(figures.Figure.of(run["first"]), amount),
            f"{statistics.median(run['memory']) / 1024:.0f} MiB",
            spread(figures.Figure.of(run["read"]), amount)])
    return lines + table(rows)


# MARK: the plot

WIDTH, HEIGHT, TOP, LEFT, GAP = 380, 260, 70, 60, 90
LOWEST, HIGHEST = 1.0, 10_000.0  # milliseconds


def height(milliseconds):
    part = math.log(min(max(milliseconds, LOWEST), HIGHEST) / LOWEST) / math.log(HIGHEST / LOWEST)
    return TOP + HEIGHT * (1 - part)


def plot(measured):
    """Draws the share of processes that have a new value after a time, and a run in which the leader dies."""
    second = LEFT + WIDTH + GAP
    count = measured["processes"]
    steady = [latency for latencies in measured["steady"] for latency in latencies]
    parts = [
        text(LEFT, 24, f"From a write to {count} other processes on one machine, in milliseconds", weight="bold"),
        text(LEFT, 50, "share of processes that have the new value"),
        text(second, 50, "ten writes a second: first and last process, and the median")]
    for left in (LEFT, second):
        for mark in (1, 10, 100, 1_000, 10_000):
            parts.append(line(left, height(mark), left + WIDTH, height(mark), "#dee2e6"))
            parts.append(text(left - 6, height(mark) + 4, f"{mark:,}", "end"))
    parts.append(line(LEFT, height(10), LEFT + WIDTH, height(10), TARGET, 1.5))
    for percent in (0, 25, 50, 75, 100):
        x = LEFT + WIDTH * percent / 100
        parts.append(text(x, TOP + HEIGHT + 18, f"{percent} %", "middle"))
    for times, color, title in [(steady, OURS, "no fault"),
                                (death_of_leader(measured)["latencies"], THEIRS, "the leader was just killed")]:
        values = sorted(time / MILLISECOND for time in times)
        points = [(LEFT + WIDTH * (index + 0.5) / len(values), height(value))
                  for index, value in enumerate(values)][::max(1, len(values) // 400)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2.5"/>')
        parts.append(text(LEFT + 8, height(values[0]) - 8, title))

    writes = measured["dying"]["writes"]
    end = max(write["moment"] for write in writes) or 1
    death = second + WIDTH * measured["dying"]["death"] / end
    parts.append(line(death, TOP, death, TOP + HEIGHT, THEIRS, 1.5))
    parts.append(text(death - 6, TOP + 12, "the leader is killed", "end"))
    for write in writes:
        x = second + WIDTH * write["moment"] / end
        first, median, last = (height(of(write["latencies"]) / MILLISECOND)
                               for of in (min, statistics.median, max))
        parts.append(line(x, first, x, last, OURS))
        parts.append(f'<circle cx="{x:.1f}" cy="{median:.1f}" r="2" fill="{OURS}"/>')
    for second_number in range(0, int(end / 1e9) + 1, 2):
        x = second + WIDTH * second_number * 1e9 / end
        parts.append(text(x, TOP + HEIGHT + 18, f"{second_number} s", "middle"))
    width, total = second + WIDTH + 20, TOP + HEIGHT + 50
    parts.append(text(
        LEFT, total - 10, "Blue: the target for the median. Lower is faster. The scale is logarithmic."))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" '
        f'font-family="sans-serif" font-size="12" fill="{TEXT}">',
        f'<rect width="{width}" height="{total}" fill="white"/>', *parts, "</svg>", ""])
