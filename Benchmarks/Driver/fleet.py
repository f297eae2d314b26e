"""Measures the storage of a fleet on a private cluster.

Scripts/private-cluster describes the cluster in the environment.
"""

import concurrent.futures
import json
import os
import signal
import subprocess
import time

import measuring
from contenders import Failure, Worker
from works import DICTIONARY, SWIFT, Case, Work

CONTENDER = SWIFT / "fleet-contender"
STORAGE = "EtcdStorage"
CACHED = "EtcdStorage.cached()"
BARE = "the same HTTP client alone"

PROCESSES = 50
SIZES = [100, 1_000, 10_000]
WATCHERS = [50, 200, 500, 1_000]


def measured(quick):
    """Returns the figures of requests, of the way from a write to other processes, and of growth."""
    fill(0, SIZES[0])
    requests = measuring.measured(Work("", cases), quick)
    with Followers(5 if quick else PROCESSES) as followers:
        steady = [followers.rotate() for _ in range(5 if quick else 200)]
    watchers = [watched(count, quick) for count in ([5, 10] if quick else WATCHERS)]
    items = [listed(size, quick) for size in SIZES[:1 if quick else None]]
    # The last measurement costs the cluster a node.
    with Followers(5 if quick else PROCESSES) as followers:
        dying = timeline(followers, 2 if quick else 10)
    return {"requests": requests, "steady": steady, "dying": dying, "watchers": watchers,
            "items": items, "processes": 5 if quick else PROCESSES}


def cases(quick):
    def pair(title, ours, bare, operations):
        contenders = [contender(STORAGE, ours), contender(BARE, bare)]
        return Case(title, contenders, BARE, operations)

    yield pair("read", "read", "bare-read", 20)
    yield pair("write of a known item", "write", "bare-write", 20)
    yield pair("write of an unknown item", "write-unknown", "bare-write-unknown", 10)
    yield pair("read of 100 items at once", "read-many", "bare-read-many", 5)
    cached = [contender(CACHED, "read-cached"), contender(DICTIONARY, "read-dictionary")]
    yield Case("read through the cache", cached, DICTIONARY, 20)


def contender(name, work):
    return Worker(name, [CONTENDER, work])


def fill(start, end):
    subprocess.run([CONTENDER, "fill", str(start), str(end)], check=True)


class Followers:
    """Processes that wait for new values of an item, and one that writes them."""

    def __init__(self, processes, storages=1):
        self.storages = storages
        self.value = 0
        self.processes = [
            subprocess.Popen([CONTENDER, "follow", str(storages)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True) for _ in range(processes)]
        for process in self.processes:
            if process.stdout.readline() != "ready\n":
                raise Failure("a process can't follow the item")
        self.writer = subprocess.Popen(
            [CONTENDER, "rotate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # The thread that reads the moments takes processor time only where the processes need none.
        self.reader = concurrent.futures.ThreadPoolExecutor(
            1, initializer=lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
        self.rotate()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.shutdown()
        for process in [*self.processes, self.writer]:
            process.stdin.close()
        for process in [*self.processes, self.writer]:
            process.wait()

    def ids(self):
        return [process.pid for process in self.processes]

    def write(self):
        """Writes a new value, and returns the moments at which the write began and ended."""
        self.value += 1
        self.writer.stdin.write(f"{self.value}\n")
        self.writer.stdin.flush()
        moments = self.writer.stdout.readline().split()
        if len(moments) != 2:
            raise Failure("a value wasn't written")
        return tuple(map(int, moments))

    def rotate(self):
        """Writes a new value, and returns the nanoseconds until each storage had it."""
        start, _ = self.write()
        return [arrivals[-1][1] - start for arrivals in self.arrivals()]

    def arrivals(self):
        """Waits until each storage has the last value.

        Returns, for each storage, the values that it had since the last call, and the moments of their arrivals.
        """
        return self.reader.submit(self.read_arrivals).result()

    def read_arrivals(self):
        storages = []
        for process in self.processes:
            arrivals = [[] for _ in range(self.storages)]
            while not all(of_one and of_one[-1][0] == self.value for of_one in arrivals):
                words = process.stdout.readline().split()
                if len(words) != 3:
                    raise Failure("a process doesn't follow the item any more")
                arrivals[int(words[0])].append((int(words[1]), int(words[2])))
            storages += arrivals
        return storages


def watched(count, quick):
    """Returns what a change costs with a number of watches, in at most 50 processes."""
    processes = min(count, PROCESSES)
    changes = 3 if quick else 40
    questions = 1 if quick else 4
    nodes = [int(pair.split("=")[1]) for pair in os.environ["CLUSTER_PROCESSES"].split()]
    idle = standing_load(nodes, questions)
    with Followers(processes, count // processes) as followers:
        standing = standing_load(nodes, questions)
        before = processor_time(nodes), processor_time(followers.ids())
        latencies = [latency for _ in range(changes) for latency in followers.rotate()]
        after = processor_time(nodes), processor_time(followers.ids())
        return {
            "watchers": count, "latencies": latencies,
            "nodes": (after[0] - before[0]) / changes / count,
            "followers": (after[1] - before[1]) / changes / count,
            "question": max(0, standing - idle) / questions / count,
            "memory": sum(map(memory, nodes)) / len(nodes)}


def listed(size, quick):
    """Returns what a namespace with a number of items costs a process."""
    fill(0 if size == SIZES[0] else SIZES[SIZES.index(size) - 1], size)
    contenders = [contender(STORAGE, "list"), contender(BARE, "bare-list")]
    case = Case(f"list of {size:,} items", contenders, BARE, 1, rounds=15, shows_memory=True)
    lists = measuring.measured(Work("", lambda _: [case]), quick)[0]
    runs = []
    for _ in range(1 if quick else 9):
        answer = subprocess.run([CONTENDER, "first-cached-read"], capture_output=True, text=True, check=True)
        runs.append(list(map(int, answer.stdout.split())))
    read = contender(STORAGE, "read")
    times = [time for _ in range(1 if quick else 10) for time in read.measure(20)]
    read.close()
    first_reads, memories = zip(*runs)
    return {"items": size, "lists": lists, "first": first_reads, "memory": memories, "read": times}


def timeline(followers, seconds):
    """Writes ten times a second, and kills the leader after a third of the time.

    Returns the moment of the death, and for each write its moment, the time that it took, and the times until the
    storages had its value, all in nanoseconds.
    """
    begin = time.monotonic_ns()
    death = None
    moments = {}  # by the value that was written
    while (now := time.monotonic_ns()) < begin + seconds * 1e9:
        if death is None and now >= begin + seconds * 1e9 / 3:
            kill_leader()
            death = time.monotonic_ns()
        start, end = followers.write()
        moments[followers.value] = start, end
        time.sleep(max(0, now / 1e9 + 0.1 - time.monotonic()))
    arrivals = followers.arrivals()

    def latency(value, arrivals):
        # A storage that missed the value had a later one.
        return next(moment for seen, moment in arrivals if seen >= value) - moments[value][0]

    return {
        "death": death - begin,
        "writes": [{"moment": start - begin, "time": end - start,
                    "latencies": [latency(value, of_one) for of_one in arrivals]}
                   for value, (start, end) in moments.items()]}


def kill_leader():
    nodes = dict(pair.split("=") for pair in os.environ["CLUSTER_PROCESSES"].split())
    answer = subprocess.run(
        ["etcdctl", "endpoint", "status", "-w", "json"], capture_output=True, text=True, check=True)
    for node in json.loads(answer.stdout):
        if node["Status"]["leader"] == node["Status"]["header"]["member_id"]:
            os.kill(int(nodes[node["Endpoint"]]), signal.SIGKILL)
            return
    raise Failure("the cluster has no leader")


def standing_load(nodes, questions):
    """Returns the nanoseconds of processor time that nodes use while each watch asks that many questions."""
    before = processor_time(nodes)
    time.sleep(5 * questions)
    return processor_time(nodes) - before


def processor_time(processes):
    """Returns the nanoseconds of processor time that processes have used."""
    tick = 1e9 / os.sysconf("SC_CLK_TCK")
    total = 0
    for process in processes:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        total += (int(fields[11]) + int(fields[12])) * tick
    return total


def memory(process):
    """Returns the bytes of memory that a process uses."""
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
