"""Measures the storage of a fleet on a private cluster.

Scripts/private-cluster describes the cluster in the environment.
"""

import concurrent.futures
import json
import os
import signal
import subprocess
import time

from contenders import Failure, Worker, timed
from operations import BUILD, DICTIONARY

CONTENDER = BUILD / "counts/release/fleet-contender"
STORAGE = "EtcdStorage"
CACHED = "EtcdStorage.cached()"

PROCESSES = 50
SIZES = [100, 1_000, 10_000]
WATCHERS = [50, 200, 500, 1_000]

# The contenders of each request, the last of which is the reference, and the operations in a round
REQUESTS = {
    "read": ({STORAGE: "read"}, 20),
    "write": ({STORAGE: "write"}, 20),
    "read through the cache": ({CACHED: "read-cached", DICTIONARY: "read-dictionary"}, 20),
}


def measured(quick):
    """Returns the figures of requests, of the way from a write to other processes, and of growth."""
    fill(0, SIZES[0])
    requests = {}
    for title, (works, operations) in REQUESTS.items():
        workers = [Worker(name, [CONTENDER, work]) for name, work in works.items()]
        requests[title] = {
            name: {"time": times} for name, times in timed(workers, 2 if quick else 40, operations, 3).items()}
    with Followers(5 if quick else PROCESSES) as followers:
        steady = [latency for _ in range(5 if quick else 200) for latency in followers.rotate()]
    watchers = [watched(count, quick) for count in ([5, 10] if quick else WATCHERS)]
    items = [listed(size, quick) for size in SIZES[:1 if quick else None]]
    # The last measurement costs the cluster a node.
    with Followers(5 if quick else PROCESSES) as followers:
        kill_leader()
        dying = followers.rotate()
    return {"requests": requests, "steady": steady, "dying": dying, "watchers": watchers, "items": items}


def fill(start, end):
    """Stores the items from `start` up to but not including `end`."""
    subprocess.run([CONTENDER, "fill", str(start), str(end)], check=True)


class Followers:
    """Processes that wait for new values of an item, and one that writes them."""

    def __init__(self, processes, storages=1):
        self.storages = storages
        self.value = 0
        self.processes = [self.start("follow", str(storages)) for _ in range(processes)]
        for process in self.processes:
            if process.stdout.readline() != "ready\n":
                raise Failure("a process can't follow the item")
        self.writer = self.start("rotate")
        # The thread that reads the moments takes processor time only where the processes need none.
        self.reader = concurrent.futures.ThreadPoolExecutor(
            1, initializer=lambda: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0)))
        self.rotate()

    def start(self, *arguments):
        return subprocess.Popen([CONTENDER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

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

    def rotate(self):
        """Writes a new value, and returns the nanoseconds until each storage had it."""
        self.value += 1
        self.writer.stdin.write(f"{self.value}\n")
        self.writer.stdin.flush()
        start = self.writer.stdout.readline()
        if not start:
            raise Failure("a value wasn't written")
        return [moment - int(start) for moment in self.reader.submit(self.arrivals).result()]

    def arrivals(self):
        """Waits until each storage has the last value, and returns the moments."""
        moments = []
        for process in self.processes:
            waiting = set(range(self.storages))
            while waiting:
                words = process.stdout.readline().split()
                if len(words) != 3:
                    raise Failure("a process doesn't follow the item any more")
                storage, value, moment = map(int, words)
                if value == self.value and storage in waiting:
                    waiting.remove(storage)
                    moments.append(moment)
        return moments


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
    runs = []
    for _ in range(1 if quick else 9):
        answer = subprocess.run([CONTENDER, "first-cached-read"], capture_output=True, text=True, check=True)
        runs.append(list(map(int, answer.stdout.split())))
    first_reads, memories = zip(*runs)
    return {"items": size, "first": first_reads, "memory": memories}


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
    # This is how the C library's clock_getcpuclockid names the clock of another process.
    return sum(time.clock_gettime_ns((~process << 3) | 2) for process in processes)


def memory(process):
    """Returns the bytes of memory that a process uses."""
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
