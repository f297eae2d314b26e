"""Lists the targets, and the reasons why some of them aren't reached."""

import dataclasses

import figures
import fleet
import instructions
from instructions import FLOOR, LOOK_AND_STORE, LOOKUPS, OPERATIONS, SEARCH_AND_DELETE
from works import (
    BARE_FILE, C_PROGRAM, CACHED, CLEAR, DICTIONARY, ENCRYPTED_FILE, LOOKUP, ONE_QUERY, PROPERTY, READ_ALL, STATIC_PROGRAM,
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
        if self.work == "instructions":
            return self.reached_in_instructions(results.get(self.work, {}).get(self.case, {}))
        for case in results.get(self.work, []):
            if case["title"] == self.case and self.contender in case["times"]:
                if self.reference:
                    return figures.ratio(case, self.contender, self.reference)
                if self.beyond:
                    return figures.difference(case, self.contender, self.beyond)
                return figures.time(case, self.contender)
        return None

    def reached_in_instructions(self, contenders):
        if self.contender not in contenders:
            return None
        return instructions.ratio(contenders, self.contender, self.reference)


MEMORY_BOUND = (
    "A read takes about 1,470 instructions. About 430 of them create and free the String, which the dictionary only "
    "hands out. 200 hold and release the current storage, the key and the secret, and 90 hash the name. The rest is in "
    "the three functions that take a lock, on the process's storage, the property's key and the items. The dictionary "
    "takes one.")
READ_BOUND = (
    "GLib and libsecret take most of the instructions, which the floor shows. The rest compares the path that the "
    "search has found with the known one, and the answers with what the messages expect.")
ABSENT_BOUND = (
    "The library sends two messages at the same time. The second one asks whether the collection is locked, because an "
    "item is reported as missing only if nothing can be hidden. C's call doesn't ask, and reports a missing item for a "
    "locked keyring, too. The floor, which also sends both messages, is therefore above C.")
REPLACE_BOUND = (
    "The library looks at the item's attributes, and sends a signal before and after the change, because gnome-keyring "
    "sends none. C's calls do neither.")
CREATE_BOUND = (
    "The library sends one more message than C, which asks whether the collection hides an item. The floor is therefore "
    "above C, too.")
REMOVE_BOUND = (
    "The library looks at the item's attributes in a message of its own, so that it removes no other program's item. "
    "C removes whatever its search finds.")
MANY_BOUND = "Each secret and each search has a price in GLib, which the floor shows."
CACHED_BOUND = (
    "A read takes about 1,140 instructions. Their time depends on the processor, as does that of the dictionary.")
START_BOUND = (
    "Each program spends 24 million instructions on the key exchange. The dynamic program takes 14.0 million more than "
    "C's 31.2 million, and the static one 6.7 million. An empty Swift program takes 6.5 and 2.3 million. The loader "
    "accounts for 9.6 and 3.0 million of the difference: it looks up 8,300 and 5,200 symbols for the program and "
    "libsecret, compared to 3,400 for the C program. Swift's runtime takes 2.9 million. For most of this time it looks for "
    "the conformances of types, each of which takes a scan of all conformances in the program. GLib and the C library take "
    "the rest, because the library has a connection of its own and asks which keyring it talks to.")


def of_instructions(operation, contender, most, reference, bound):
    title = f"{OPERATIONS[operation].title}, instructions"
    return Target(title, "instructions", contender, most, reference, case=operation, bound=bound)


TARGETS = [
    of_instructions("read", PROPERTY, 1.10, FLOOR, READ_BOUND),
    of_instructions("read", PROPERTY, 0.95, LOOKUP, READ_BOUND),
    of_instructions("absent", PROPERTY, 1.10, FLOOR, READ_BOUND),
    of_instructions("absent", PROPERTY, 0.95, LOOKUP, ABSENT_BOUND),
    of_instructions("replace", PROPERTY, 0.95, LOOK_AND_STORE, REPLACE_BOUND),
    of_instructions("create", PROPERTY, 1.00, LOOK_AND_STORE, CREATE_BOUND),
    of_instructions("remove", PROPERTY, 1.00, SEARCH_AND_DELETE, REMOVE_BOUND),
    of_instructions("remove", PROPERTY, 1.00, CLEAR, REMOVE_BOUND),
    of_instructions("items", ONE_QUERY, 0.50, LOOKUPS, MANY_BOUND),
    of_instructions("settings", READ_ALL, 0.50, LOOKUPS, MANY_BOUND),
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
