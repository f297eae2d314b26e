"""Lists the targets, and the reasons why some of them aren't reached."""

import dataclasses

import figures
from operations import (
    C_PROGRAM, CACHED, CLEAR, DICTIONARY, ENCRYPTED_FILE, LOOK_AND_STORE, LOOKUP, LOOKUPS, ONE_QUERY, PROPERTY,
    READ_ALL, SEARCH_AND_DELETE, STATIC_PROGRAM, SWIFT_PROGRAM)


@dataclasses.dataclass(frozen=True)
class Target:
    operation: str
    what: str  # "instructions" or "time"
    contender: str
    most: float
    reference: str = ""  # without one, `most` is in nanoseconds
    # A description of where the time goes and what limits it. The report shows it if the target isn't reached.
    bound: str = ""

    def reached(self, found):
        """Returns the measured ratio or nanoseconds."""
        if self.reference:
            return figures.ratio(found[self.contender], found[self.reference], self.what)
        return figures.time(found[self.contender])


READ_BOUND = "GLib, libgcrypt and the C library take 87 % of the instructions."
ABSENT_BOUND = (
    "The library sends two messages at the same time. The second one asks whether the collection is locked, because an "
    "item is reported as missing only if nothing can be hidden. C's call doesn't ask, and reports a missing item for a "
    "locked keyring, too.")
REPLACE_BOUND = (
    "The library looks at the item's attributes, and sends a signal before and after the change, because gnome-keyring "
    "sends none. C's calls do neither.")
CREATE_BOUND = "The library sends one more message than C, which asks whether the collection hides an item."
REMOVE_BOUND = (
    "The library looks at the item's attributes in a message of its own, so that it removes no other program's item. "
    "C removes whatever its search finds.")
MANY_BOUND = "Each secret and each search has a price in GLib."
MEMORY_BOUND = (
    "A read takes about 1,470 instructions. About 430 of them create and free the String, which the dictionary only "
    "hands out. 200 hold and release the current storage, the key and the secret, and 90 hash the name. The rest is in "
    "the three functions that take a lock, on the process's storage, the property's key and the items. The dictionary "
    "takes one.")
CACHED_BOUND = (
    "A read takes about 1,140 instructions. Their time depends on the processor, as does that of the dictionary.")
START_BOUND = (
    "Of the C program's 31 million instructions, 24 are the key exchange. The dynamic program takes 14 million more, "
    "and the static one 7. The loader accounts for 10 and 3 of them: it looks up the symbols of Swift's libraries, too. "
    "Swift's runtime takes 3, most of them to look for the conformances of types.")

TARGETS = [
    Target("read", "instructions", PROPERTY, 0.95, LOOKUP, READ_BOUND),
    Target("absent", "instructions", PROPERTY, 0.95, LOOKUP, ABSENT_BOUND),
    Target("replace", "instructions", PROPERTY, 0.95, LOOK_AND_STORE, REPLACE_BOUND),
    Target("create", "instructions", PROPERTY, 1.00, LOOK_AND_STORE, CREATE_BOUND),
    Target("remove", "instructions", PROPERTY, 1.00, SEARCH_AND_DELETE, REMOVE_BOUND),
    Target("remove", "instructions", PROPERTY, 1.00, CLEAR, REMOVE_BOUND),
    Target("items", "instructions", ONE_QUERY, 0.50, LOOKUPS, MANY_BOUND),
    Target("settings", "instructions", READ_ALL, 0.50, LOOKUPS, MANY_BOUND),
    Target("memory-read", "time", PROPERTY, 150, bound=MEMORY_BOUND),
    Target("memory-read", "time", PROPERTY, 3, DICTIONARY, MEMORY_BOUND),
    Target("cached-read", "time", CACHED, 120, bound=CACHED_BOUND),
    Target("file-read", "time", ENCRYPTED_FILE, 5_000),
    Target("file-write", "time", ENCRYPTED_FILE, 10e6),
    Target("cold-start", "time", SWIFT_PROGRAM, 1.35, C_PROGRAM, START_BOUND),
    Target("cold-start", "time", STATIC_PROGRAM, 1.15, C_PROGRAM, START_BOUND),
]
