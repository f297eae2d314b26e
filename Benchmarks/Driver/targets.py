"""Lists the targets, and the reasons why some of them aren't reached."""

import dataclasses

import figures
import fleet
from works import (
    AT_ONCE, AWAITED_IN_TURN, BARE_FILE, C_PROGRAM, CACHED, CLEAR, DICTIONARY, ENCRYPTED_FILE, IN_TURN, LOOKUP, ONE_QUERY,
    PROPERTY, READ_ALL, SEARCH, SERVICE_LOOKUP, SERVICE_STORE, STATIC_PROGRAM, STORAGE,
    SWIFT_PROGRAM)


@dataclasses.dataclass(frozen=True)
class Target:
    title: str
    work: str
    contender: str
    most: float
    reference: str = ""  # without one, `most` is in nanoseconds
    # A contender that does only the work that can't be avoided. Its time in the same round is subtracted.
    beyond: str = ""
    case: str = ""
    # A description of where the time goes and what limits it. The report shows it if the target isn't reached.
    bound: str = ""

    def reached(self, results):
        """Returns the measured ratio or nanoseconds, or None if nothing was measured."""
        for case in results.get(self.work, []):
            if case["title"] == self.case and self.contender in case["times"]:
                if self.reference:
                    return figures.ratio(case, self.contender, self.reference)
                if self.beyond:
                    return figures.difference(case, self.contender, self.beyond)
                return figures.time(case, self.contender)
        return None


QUERY_BOUND = (
    "The ratio depends on the machine. An earlier version (0677c48) had 0.28 and 0.24 on another machine, "
    "and 0.42 and 0.33 on this one. In an earlier run, a query took 10.6 ms. For 6.8 ms of this time, "
    "gnome-keyring was busy on the one thread that answers (its time over 200 queries), because the "
    "properties of each item are a separate request. All of gnome-keyring, the bus and this program took "
    "16.6 ms of the machine's two processors, and therefore at least 8.3 ms, which would be a ratio of "
    "0.21. The rest is two waits: one for the search, and one for the last answers.")
MEMORY_BOUND = (
    "An earlier version (0677c48) took 149 ns on this machine, and the measured one 144 ns in the next run. "
    "In an earlier run, 25 % of perf's samples were in swift_retain and swift_release, because the current "
    "storage, the key and the secret are each held while they're used. 27 % were in the three functions "
    "that take a lock: on the process's storage, the property's key and the items. The dictionary takes one "
    "lock. 15 % were in creating and freeing the String, which the dictionary only hands out. 11 % were in "
    "the hash.")
READ_BOUND = (
    "C's time is mostly waiting, so the ratio depends on the machine. An earlier version (0677c48) had 0.73 on "
    "another machine. On this machine, that version and the measured one took turns, and both had 0.85. In turn "
    "with the version before the asynchronous core, that core added 1 to 5 %.")
ABSENT_BOUND = (
    "The library sends two messages at the same time. The second one asks whether the collection is locked, "
    "because an item is reported as missing only if nothing can be hidden. C's call doesn't ask, and "
    "reports a missing item for a locked keyring, too. The ratio is higher on a slower processor: 1.51 in an "
    "earlier run.")
REPLACE_BOUND = (
    "The library waits twice, and C once. It checks first that the item is still there and its own, "
    "which takes as long as a read of an absent value. The change itself takes less time than C's call, and the "
    "more items there are, the less: compare the 400 passwords in turn, and the larger collections.")
SETTINGS_BOUND = (
    "All 20 searches and the request for the secrets are sent at the same time, so that gnome-keyring and "
    "this program's processor time remain. The ratio therefore depends on the machine. An earlier version "
    "(0677c48) had 0.22 on another machine. On this machine, it had 0.32 and 0.33, and the measured one 0.32 "
    "twice.")
CACHED_BOUND = (
    "An earlier version (0677c48) took 100 ns on another machine. On this machine, it took 162 ns and the "
    "measured one 175 ns, although the read of a bare dictionary takes as long on both machines.")
CREATE_BOUND = (
    "Before the library creates an item, it checks whether there already is one, its own or another "
    "program's, and whether the collection may hide it. C's call doesn't check. The check is a separate wait, "
    "and takes as long as a read of an absent value.")
REMOVE_BOUND = (
    "The library fetches the item's attributes at the same time as it searches. A removal that is repeated "
    "after a lost connection therefore removes nothing else. C's call fetches no attributes, and waits as "
    "often.")
AT_ONCE_BOUND = (
    "gnome-keyring is busy for 96 % of the time. Each key is a separate search, regardless of the client. "
    "Sending the reads together saves the waits, and nothing else can be saved. An earlier version (0677c48), "
    "whose searches named the attributes in another order, took 13 % longer on this machine.")
START_BOUND = (
    "Both programs spend the same time on the key exchange. The Swift programs are larger: the loader does "
    "47,200 relocations for the dynamic program and 49,200 for the static one, compared to 9,000 for the C "
    "program, and they make 916 and 758 system calls, compared to 623. In an earlier run (perf, 60 runs of each), "
    "44 % of the difference of the static program was in the kernel, 23 % in the loader, and 23 % in the Swift "
    "runtime, which creates the metadata of generic types when they're first used.")

TARGETS = [
    Target("warm read", "read", PROPERTY, 0.75, LOOKUP, bound=READ_BOUND),
    Target("warm read", "read", PROPERTY, 0.80, SERVICE_LOOKUP, bound=READ_BOUND),
    Target("warm read of an absent value", "absent", PROPERTY, 1.25, LOOKUP,
           bound=ABSENT_BOUND),
    Target("warm replace", "write", PROPERTY, 1.00, SERVICE_STORE, case="one password",
           bound=REPLACE_BOUND),
    Target("warm replace, 400 in turn", "write", STORAGE, 1.00, SERVICE_STORE, case=IN_TURN),
    Target("warm create", "create", PROPERTY, 1.10, SERVICE_STORE, bound=CREATE_BOUND),
    Target("warm remove", "remove", PROPERTY, 1.10, CLEAR, bound=REMOVE_BOUND),
    Target("50 items in one query", "items", ONE_QUERY, 0.28, f"50 × {LOOKUP}",
           bound=QUERY_BOUND),
    Target("50 items in one query", "items", ONE_QUERY, 0.28, SEARCH, bound=QUERY_BOUND),
    Target("1,000 reads awaited at once", "awaits", AT_ONCE, 0.35, AWAITED_IN_TURN,
           bound=AT_ONCE_BOUND),
    Target("whole settings of 20 properties", "settings", READ_ALL, 0.25, f"20 × {LOOKUP}",
           bound=SETTINGS_BOUND),
    Target("property read in memory", "memory", PROPERTY, 150, case="read",
           bound=MEMORY_BOUND),
    Target("property read in memory", "memory", PROPERTY, 3, DICTIONARY, case="read",
           bound=MEMORY_BOUND),
    Target("cached read", "cached", CACHED, 120, bound=CACHED_BOUND),
    Target("encrypted file, open", "file", ENCRYPTED_FILE, 20e6, case="open"),
    Target("encrypted file, read", "file", ENCRYPTED_FILE, 5_000, case="read"),
    Target("encrypted file, write", "file", ENCRYPTED_FILE, 10e6, beyond=BARE_FILE, case="write"),
    Target("cold start, dynamic", "cold-start", SWIFT_PROGRAM, 1.35, C_PROGRAM,
           bound=START_BOUND),
    Target("cold start, static", "cold-start", STATIC_PROGRAM, 1.15, C_PROGRAM,
           bound=START_BOUND),
]

FLEET_READ_BOUND = (
    "The ratio changes from run to run: in seven runs on this machine, it was 1.03 to 1.20.")
FLEET_CACHED_BOUND = (
    "The read of a bare dictionary in the same run shows how fast the processor is, which depends on what other "
    "machines do. In earlier runs on this machine, a cached read took 121 to 211 ns, and a read of the "
    "dictionary 42 to 55 ns.")
FLEET_LIST_BOUND = (
    "The library decrypts a page while the next one is under way, on the processors that also run the cluster. It "
    "can't ask for the next page before it has decoded the last key of this one.")
CHANGE_BOUND = (
    "All processes share the two processors of one machine, whose speed changes with what other machines do. A change "
    "costs each watcher 0.2 to 0.75 ms of processor time, in the nodes and in the process (see the table of watchers). "
    "In sixteen runs on such machines, the median of the writes without a fault was 5.0 to 15.0 ms.")

FLEET_TARGETS = [
    Target("read", "fleet", fleet.STORAGE, 1.20, fleet.BARE, case="read",
           bound=FLEET_READ_BOUND),
    Target("write of a known item", "fleet", fleet.STORAGE, 1.20, fleet.BARE,
           case="write of a known item"),
    Target("write of an unknown item", "fleet", fleet.STORAGE, 1.20, fleet.BARE,
           case="write of an unknown item"),
    Target("list of 10,000 items", "fleet", fleet.STORAGE, 1.40, fleet.BARE,
           case="list of 10,000 items", bound=FLEET_LIST_BOUND),
    Target("cached read", "fleet", fleet.CACHED, 120, case="read through the cache",
           bound=FLEET_CACHED_BOUND),
    Target("from a write to another process", "fleet", fleet.CACHED, 10e6, case="change",
           bound=CHANGE_BOUND),
]
