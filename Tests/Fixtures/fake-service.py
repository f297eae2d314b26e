"""A Secret Service that obeys orders, with collections in memory, and only with plain sessions.

It owns org.freedesktop.secrets on the bus of DBUS_SESSION_BUS_ADDRESS, prints "ready", and ends
when its standard input ends. If its arguments are names, it owns these, too. It then reads no orders, and ends with
the bus. For each call, it prints "called METHOD". Each line of input is an order:

  fault METHOD mute              never answers
  fault METHOD late SECONDS      answers after that time
  fault METHOD error NAME        answers with the error of that name
  fault METHOD type              answers with a string, which is never the type of an answer
  fault METHOD leave             leaves the bus without an answer
  fault METHOD lost              performs one call, and answers with the bus's error for a lost answer
  fault METHOD prompt OUTCOME    answers with a prompt: accept, dismiss, mute, type or none
  abdicate                       stops providing the service, and stays on the bus (KeePassXC 2.7.4)
  reset                          removes all faults
  quiet                          stops printing the calls
  lock, unlock                   locks or unlocks everything
  shut                           locks each item by itself, where that is possible
  duplicate                      adds a copy of each item that was changed later
  retire                         removes the oldest item just before the next one is created
  swap                           swaps the paths of the items, the first with the last
  alias none                     has no default collection until one is made
  alias stale                    has an alias for a collection that is gone, until one is made
  second NAME                    adds a second collection
  session NAME                   adds a collection that the alias "session" stands for
  renew                          deletes the default collection, and makes an empty one at its path
  move                           makes the next collection the default one
  relabel LABEL                  gives each new collection this label
  rival SECRET                   adds another item just before the next one is created
  shy                            locks everything just after the next item is created
  strict                         refuses to read secrets if one of the items is gone
  forget                         forgets the secret of the item that was created or changed last
  unheard                        sends no signal for a secret that was set (gnome-keyring 42.1)
  churn                          replaces each item with another if a client asks for its properties
  wither                         removes each item if a client asks for its properties, and answers
                                 that the item has no attributes (KWallet 5.103)
  unusable COUNT                 gives the next sessions another key than their callers have
                                 (KWallet 5.103)
  age SECONDS                    sets the times of all items back by that many seconds
  name NAME                      also owns another name on the bus
  hide none                      lists locked items, and refuses the rest (gnome-keyring 42.1)
  hide items                     finds nothing in a locked collection, and creates an item with a
                                 prompt that unlocks it (KeePassXC 2.7.4)
  hide secrets                   lists locked items with empty secrets, and loses writes
                                 (KWallet 5.103)
  hide search                    refuses to search a locked collection
  hide collection                doesn't know a collection that is locked
  hide default                   has another default collection after every call
  hide each                      locks each item by itself, until it's unlocked by its path (KeePassXC 2.7.4)
  hide attributes                does the same, and shows no property of a locked item but its lock (oo7)
  stubborn                       reports success for each unlocking of an item, and unlocks none

The answer to each line is "ok".
"""

import os
import sys
import threading
import time

from jeepney import (
    DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_return, new_signal)
from jeepney.io.blocking import open_dbus_connection

SERVICE = "/org/freedesktop/secrets"
COLLECTION = SERVICE + "/collection/only"
SESSION = SERVICE + "/session/s1"
PROMPT = SERVICE + "/prompt/p1"
INTERFACE = "org.freedesktop.Secret."
UNUSABLE = SERVICE + "/session/unusable"
LOCKED = INTERFACE + "Error.IsLocked"
UNDECIPHERED = "org.qtproject.QtDBus.Error.InvalidObjectPath"


class Failure(Exception):
    pass


class Collection:
    def __init__(self, label):
        self.label = label
        self.locked = False
        self.count = 0


class Item:
    def __init__(self, label, attributes, secret, kind):
        self.label, self.attributes, self.secret, self.kind = label, attributes, secret, kind
        self.created = self.modified = int(time.time())
        self.allowed = False


class Service:
    def __init__(self, connection):
        self.connection = connection
        self.sending = threading.Lock()
        self.faults = {}
        self.collections = {COLLECTION: Collection("Only")}
        self.items = {}
        self.default = COLLECTION
        self.session = "/"
        self.relabeling = None
        self.pending = None
        self.hidden = "none"
        self.abdicated = False
        self.stubborn = False
        self.rival = None
        self.retires = False
        self.shy = False
        self.last = None
        self.quiet = False
        self.strict = False
        self.withers = False
        self.churns = False
        self.unheard = False
        self.unusable = 0

    # Messages

    def send(self, message):
        with self.sending:
            self.connection.send(message)

    def signal(self, path, name, item):
        interface = "Collection" if name.startswith("Item") else "Service"
        source = DBusAddress(path, interface=INTERFACE + interface)
        self.send(new_signal(source, name, "o", (item,)))

    def complete(self, dismissed, signature, value):
        source = DBusAddress(PROMPT, interface=INTERFACE + "Prompt")
        self.send(new_signal(source, "Completed", "bv", (dismissed, (signature, value))))

    def handle(self, call):
        fields = call.header.fields
        method = fields[HeaderFields.member]
        if not self.quiet:
            print("called", method, flush=True)
        if self.hidden == "default":
            self.move()
        kind, argument = self.faults.get(method, ("none", ""))
        if kind == "mute":
            return
        if kind == "leave":
            os._exit(0)
        if kind == "error":
            answer = new_error(call, argument, "s", ("as the test wants it",))
        elif kind == "type":
            answer = new_method_return(call, "s", ("nonsense",))
        else:
            try:
                signature, body = self.answer(fields[HeaderFields.path], method, call.body,
                                              argument if kind == "prompt" else "")
                answer = new_method_return(call, signature, body)
            except Failure as failure:
                answer = new_error(call, str(failure), "s", ("no such thing",))
        if kind == "lost":
            del self.faults[method]
            answer = new_error(call, "org.freedesktop.DBus.Error.NoReply", "s", ("it is lost",))
        if kind == "late":
            threading.Timer(float(argument), self.send, [answer]).start()
        else:
            self.send(answer)

    # Methods

    def answer(self, path, method, body, prompt):
        if method == "Prompt":
            outcome, (signature, value) = self.pending
            if outcome == "accept":
                if callable(value):
                    value = value()
                self.complete(False, signature, value)
            elif outcome == "dismiss":
                self.complete(True, "s", "")
            elif outcome == "type":
                self.complete(False, "u", 7)
            elif outcome == "none":
                self.complete(False, "o", "/")
            return "", ()
        if self.abdicated:
            raise Failure("org.freedesktop.DBus.Error.UnknownObject")
        perform = getattr(self, method, None)
        if not perform:
            raise Failure("org.freedesktop.DBus.Error.UnknownMethod")
        if prompt:
            self.pending = (prompt, self.result(path, method, body))
            return {"Unlock": ("aoo", ([], PROMPT)), "Lock": ("aoo", ([], PROMPT)),
                    "CreateItem": ("oo", ("/", PROMPT)), "Delete": ("o", (PROMPT,)),
                    "CreateCollection": ("oo", ("/", PROMPT))}[method]
        return perform(path, *body)

    def result(self, path, method, body):
        """Returns the type of the result in a prompt's Completed, and a function that makes it."""
        def perform():
            return getattr(self, method)(path, *body)[1][0]
        return {"Unlock": "ao", "Lock": "ao", "CreateItem": "o", "Delete": "o",
                "CreateCollection": "o"}[method], perform

    def OpenSession(self, path, algorithm, value):
        if algorithm != "plain":
            raise Failure("org.freedesktop.DBus.Error.NotSupported")
        session = UNUSABLE if self.unusable else SESSION
        self.unusable = max(0, self.unusable - 1)
        return "vo", (("s", ""), session)

    def ReadAlias(self, path, name):
        if name == "session":
            return "o", (self.session,)
        there = self.default in self.visible() or self.default.endswith("gone")
        return "o", (self.default if name == "default" and there else "/",)

    def SearchItems(self, path, attributes):
        path = self.collection(path)
        if self.collections[path].locked:
            if self.hidden == "items":
                return "ao", ([],)
            if self.hidden == "search":
                raise Failure(LOCKED)
        return "ao", (self.matches(path, attributes),)

    def matches(self, path, attributes):
        found = [name for name, item in self.items.items()
                 if name.startswith(path + "/") and attributes.items() <= item.attributes.items()]
        # gnome-keyring 42.1 has this order. Nothing relies on the order of another provider.
        return sorted(found, key=lambda name: -self.items[name].modified)

    def GetSecrets(self, path, items, session):
        if self.strict and any(item not in self.items for item in items):
            raise Failure(INTERFACE + "Error.NoSuchObject")
        items = [item for item in items if item in self.items]
        if self.locks_each() and any(self.is_locked(item) for item in items):
            raise Failure(LOCKED)
        if self.hidden != "secrets":
            items = [item for item in items if not self.is_locked(item)]
        # libsecret refuses a secret for another session, as it refuses one that it can't decrypt.
        session = SESSION if session == UNUSABLE else session
        return "a{o(oayays)}", ({
            item: (session, b"", b"" if self.is_locked(item) else self.items[item].secret,
                   self.items[item].kind)
            for item in items},)

    def Unlock(self, path, objects):
        self.set_locks(objects, False)
        return "aoo", (objects, "/")

    def Lock(self, path, objects):
        self.set_locks(objects, True)
        return "aoo", (objects, "/")

    def CreateCollection(self, path, properties, alias):
        label = self.relabeling or properties.get(INTERFACE + "Collection.Label", ("s", "Only"))[1]
        path = COLLECTION
        if self.default in self.collections:
            path = "%s/collection/z%d" % (SERVICE, len(self.collections))
        self.collections.setdefault(path, Collection(label))
        if alias == "default":
            self.default = path
        self.signal(SERVICE, "CollectionCreated", path)
        return "oo", (path, "/")

    def CreateItem(self, path, properties, secret, replace):
        path = self.collection(path)
        if self.collections[path].locked:
            if self.hidden != "items":
                raise Failure(LOCKED)
            self.pending = ("accept", ("o", lambda: self.create_unlocked(
                path, properties, secret, replace)))
            return "oo", ("/", PROMPT)
        if secret[0] == UNUSABLE:
            self.create(path, properties, ("", b"", b"", secret[3]), replace)
            raise Failure(UNDECIPHERED)
        return "oo", (self.create(path, properties, secret, replace), "/")

    def create_unlocked(self, path, properties, secret, replace):
        self.set_locks([path], False)
        return self.create(path, properties, secret, replace)

    def create(self, path, properties, secret, replace):
        label = properties[INTERFACE + "Item.Label"][1]
        attributes = properties[INTERFACE + "Item.Attributes"][1]
        if self.rival:
            rival, self.rival = self.rival, None
            self.create(path, properties, ("", b"", rival.encode(), "text/plain"), True)
        if self.retires:
            self.retires = False
            self.Delete(next(iter(self.items)))
        found = self.matches(path, attributes) if replace else []
        if found:
            name = found[0]
            item = self.items[name]
            item.label, item.attributes = label, attributes
            item.secret, item.kind = bytes(secret[2]), secret[3]
            item.modified = max(item.modified, int(time.time()))
        else:
            self.collections[path].count += 1
            name = "%s/%d" % (path, self.collections[path].count)
            item = Item(label, attributes, bytes(secret[2]), secret[3])
            self.items[name] = item
        item.allowed = True
        self.last = name
        self.signal(path, "ItemChanged" if found else "ItemCreated", name)
        if self.shy:
            self.shy = False
            self.set_locks(list(self.collections), True)
        return name

    def Delete(self, path):
        if path in self.collections:
            del self.collections[path]
            for name in [name for name in self.items if name.startswith(path + "/")]:
                del self.items[name]
            self.signal(SERVICE, "CollectionDeleted", path)
            return "o", ("/",)
        self.item(path)
        if self.is_locked(path) and self.hidden != "secrets":
            raise Failure(LOCKED)
        del self.items[path]
        self.signal(path.rsplit("/", 1)[0], "ItemDeleted", path)
        return "o", ("/",)

    def SetSecret(self, path, secret):
        item = self.item(path)
        if self.is_locked(path):
            if self.hidden != "secrets":
                raise Failure(LOCKED)
            return "", ()
        if secret[0] == UNUSABLE:
            raise Failure(UNDECIPHERED)
        item.secret, item.kind = bytes(secret[2]), secret[3]
        self.last = path
        if not self.unheard:
            self.changed(path)
        return "", ()

    def Get(self, path, interface, name):
        if path == SERVICE and name == "Collections":
            return "v", (("ao", self.visible()),)
        if path.rsplit("/", 1)[0] in self.collections:
            properties = self.properties(path)
            if name not in properties:
                raise Failure(LOCKED)
            return "v", (properties[name],)
        path = self.collection(path)
        collection = self.collections[path]
        items = [item for item in self.items if item.startswith(path + "/")
                 and not (collection.locked and self.hidden == "items")]
        return "v", ({"Label": ("s", collection.label), "Locked": ("b", collection.locked),
                      "Items": ("ao", items), "Created": ("t", 0), "Modified": ("t", 0)}[name],)

    def GetAll(self, path, interface):
        return "a{sv}", (self.properties(path),)

    def properties(self, path):
        item = self.item(path)
        attributes = item.attributes
        if self.churns:
            collection = self.collections[path.rsplit("/", 1)[0]]
            collection.count += 1
            self.items["%s/%d" % (path.rsplit("/", 1)[0], collection.count)] = self.items.pop(path)
            raise Failure(INTERFACE + "Error.NoSuchObject")
        if self.withers:
            attributes = {}
            self.Delete(path)
        if self.hidden == "attributes" and self.is_locked(path):
            return {"Locked": ("b", True)}
        return {
            "Label": ("s", item.label), "Attributes": ("a{ss}", attributes),
            "Locked": ("b", not self.withers and self.is_locked(path)),
            "Created": ("t", item.created), "Modified": ("t", item.modified)}

    def Set(self, path, interface, name, value):
        item = self.item(path)
        if self.is_locked(path):
            raise Failure(LOCKED)
        if name == "Label":
            item.label = value[1]
        else:
            item.attributes = value[1]
        self.changed(path)
        return "", ()

    # Collections and items

    def make_second(self, name):
        path = SERVICE + "/collection/" + name
        self.collections[path] = Collection("Second")
        self.signal(SERVICE, "CollectionCreated", path)
        return path

    def renew(self):
        label = self.collections[self.default].label
        self.Delete(self.default)
        self.collections[self.default] = Collection(label)
        self.signal(SERVICE, "CollectionCreated", self.default)

    def move(self):
        names = list(self.collections)
        index = names.index(self.default) if self.default in names else -1
        self.default = names[(index + 1) % len(names)]

    def duplicate(self):
        for name, item in list(self.items.items()):
            path = name.rsplit("/", 1)[0]
            self.collections[path].count += 1
            copy = Item(item.label, item.attributes, item.secret, item.kind)
            copy.modified = item.modified + 1
            self.items["%s/%d" % (path, self.collections[path].count)] = copy

    def changed(self, path):
        self.items[path].modified = int(time.time())
        self.signal(path.rsplit("/", 1)[0], "ItemChanged", path)

    def visible(self):
        return [path for path, collection in self.collections.items()
                if not (collection.locked and self.hidden == "collection")]

    def is_locked(self, item):
        return (self.collections[item.rsplit("/", 1)[0]].locked
                or self.locks_each() and not self.items[item].allowed)

    def locks_each(self):
        return self.hidden in ("each", "attributes")

    def set_locks(self, objects, locked):
        for path in objects:
            collection = path if path in self.collections else path.rsplit("/", 1)[0]
            if collection not in self.collections:
                raise Failure(INTERFACE + "Error.NoSuchObject")
            if path in self.items and not self.stubborn:
                self.items[path].allowed = not locked
            if self.collections[collection].locked != locked:
                self.collections[collection].locked = locked
                for name, item in self.items.items():
                    if locked and name.startswith(collection + "/"):
                        item.allowed = False
                self.signal(SERVICE, "CollectionChanged", collection)

    def collection(self, path):
        if path == SERVICE + "/aliases/default":
            path = self.default
        if path not in self.visible():
            raise Failure(INTERFACE + "Error.NoSuchObject")
        return path

    def item(self, path):
        if path not in self.items:
            raise Failure(INTERFACE + "Error.NoSuchObject")
        return self.items[path]

    # Orders of the test

    def obey(self):
        for line in sys.stdin:
            words = line.split()
            if words[0] == "fault":
                self.faults[words[1]] = (words[2], " ".join(words[3:]))
            elif words[0] == "reset":
                self.faults = {}
                self.withers = self.churns = self.stubborn = False
            elif words[0] == "quiet":
                self.quiet = True
            elif words[0] == "strict":
                self.strict = True
            elif words[0] == "duplicate":
                self.duplicate()
            elif words[0] == "retire":
                self.retires = True
            elif words[0] == "swap":
                self.items = dict(zip(self.items, reversed(self.items.values())))
            elif words[0] in ("lock", "unlock"):
                self.set_locks(list(self.collections), words[0] == "lock")
                for item in self.items.values():
                    item.allowed = words[0] == "unlock"
            elif words[0] == "shut":
                for name, item in self.items.items():
                    item.allowed = False
                    self.signal(name.rsplit("/", 1)[0], "ItemChanged", name)
            elif words[0] == "alias":
                self.default = {"none": "/", "stale": SERVICE + "/collection/gone"}[words[1]]
            elif words[0] == "second":
                self.make_second(words[1])
            elif words[0] == "session":
                self.session = self.make_second(words[1])
            elif words[0] == "renew":
                self.renew()
            elif words[0] == "relabel":
                self.relabeling = " ".join(words[1:])
            elif words[0] == "move":
                self.move()
            elif words[0] == "unusable":
                self.unusable = int(words[1])
            elif words[0] == "rival":
                self.rival = words[1]
            elif words[0] == "forget":
                self.items[self.last].secret = b""
            elif words[0] == "churn":
                self.churns = True
            elif words[0] == "shy":
                self.shy = True
            elif words[0] == "unheard":
                self.unheard = True
            elif words[0] == "stubborn":
                self.stubborn = True
            elif words[0] == "abdicate":
                self.abdicated = True
                self.connection.send(message_bus.ReleaseName("org.freedesktop.secrets"))
            elif words[0] == "wither":
                self.withers = True
            elif words[0] == "age":
                for item in self.items.values():
                    item.created -= int(words[1])
                    item.modified -= int(words[1])
            elif words[0] == "name":
                self.connection.send(message_bus.RequestName(words[1]))
            elif words[0] == "hide":
                self.hidden = words[1]
                if self.hidden == "default":
                    self.make_second("second")
            print("ok", flush=True)
        os._exit(0)


connection = open_dbus_connection(auth_timeout=60)
service = Service(connection)
connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.secrets"))
for name in sys.argv[1:]:
    connection.send_and_get_reply(message_bus.RequestName(name))
print("ready", flush=True)
if not sys.argv[1:]:
    threading.Thread(target=service.obey, daemon=True).start()
while True:
    try:
        message = connection.receive()
    except ConnectionError:
        sys.exit()
    if message.header.message_type == MessageType.method_call:
        service.handle(message)
