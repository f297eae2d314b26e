"""Writes the figures of the fleet's storage as Markdown."""

import statistics

import figures
from report import amount, spread, table

HEAD = """# A fleet's secrets: benchmarks

`Scripts/benchmark --fleet` writes this report. Don't edit it by hand. The cluster has three nodes of etcd with
encrypted connections, whose data is in memory. It runs on this machine, and so do all processes. A figure
is the median over all rounds, with the quartiles in brackets.
"""

CHANGES = """\
The time is from the beginning of a write in one process until another process has read the new value from its cache,
which the cluster's event has brought. If the leader was killed, the write itself waits for the election of another one
(election timeout 500 ms).

All processes share the two processors of one machine, whose speed changes with what other machines do. A change costs
each watcher 0.2 to 0.75 ms of processor time, in the nodes and in the process (see the table of watchers). In sixteen
runs on such machines, the median of the writes without a fault was 5.0 to 15.0 ms. The target is 10 ms.
"""

WATCHERS = """\
Each watcher is a storage with connections of its own, in at most 50 processes. The table has the time from a write
until a watcher has the new value, and the processor time that a change costs the three nodes and the watching
processes, for each watcher. Every five seconds, each watcher asks its node whether it still answers, which costs the
nodes the time in the column "question".
"""

ITEMS = """\
A process lists all items before its first cached read, and again about every ten minutes. In between, it only reads
what has changed.
"""


def tables(measured):
    return [*of_requests(measured["requests"]), *of_changes(measured), *of_watchers(measured["watchers"]),
            *of_items(measured["items"])]


def of_requests(requests):
    rows = [["operation", "contender", "time", "ratio"]]
    for title, found in requests.items():
        reference = list(found.values())[-1]
        for contender, own in found.items():
            ratio = "–" if own is reference else spread(figures.ratio(own, reference, "time"))
            rows.append([title, contender, spread(figures.time(own), amount), ratio])
    return ["## Requests", "", *table(rows)]


def of_changes(measured):
    rows = [["", "median", "90 %", "99 %", "worst"]]
    for title, times in [("writes, one after another", measured["steady"]),
                         ("the write after the leader was killed", measured["dying"])]:
        parts = statistics.quantiles(times, n=100, method="inclusive")
        rows.append([title, *map(amount, (parts[49], parts[89], parts[98], max(times)))])
    return [f"## From a write to {len(measured['dying'])} other processes", "", CHANGES, *table(rows)]


def of_watchers(runs):
    rows = [["watchers", "median", "worst", "nodes", "watcher", "question", "memory of a node"]]
    for run in runs:
        rows.append([
            f"{run['watchers']:,}", amount(statistics.median(run["latencies"])),
            amount(max(run["latencies"])), amount(run["nodes"]), amount(run["followers"]),
            amount(run["question"]), mebibytes(run["memory"])])
    return ["## Watchers", "", WATCHERS, *table(rows)]


def of_items(runs):
    rows = [["items", "first cached read", "memory of the process"]]
    for run in runs:
        first = spread(figures.figure(run["first"]), amount)
        rows.append([f"{run['items']:,}", first, mebibytes(statistics.median(run["memory"]) * 1024)])
    return ["## Items", "", ITEMS, *table(rows)]


def mebibytes(number):
    return f"{number / (1 << 20):.0f} MiB"
