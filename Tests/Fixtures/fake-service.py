"""A Secret Service that misbehaves as it is told: one collection in memory, plain sessions only.

It owns org.freedesktop.secrets, and the names it is given, on the bus of DBUS_SESSION_BUS_ADDRESS, prints "ready", and ends when
its standard input does. Each method called prints "called METHOD". Lines of input:

  fault METHOD mute              never answers
  fault METHOD late SECONDS      answers after that time
  fault METHOD error NAME        answers with the error of that name
  fault METHOD type              answers with a string, which no method does
  fault METHOD leave             leaves the bus without an answer
  fault METHOD lost              does it, once, and the bus says that the answer was lost
  fault METHOD prompt OUTCOME    answers with a prompt: accept, dismiss, mute or type
  mend                           no faults any more
  lock                           locks everything
  swap                           the items take each other's paths, the first the last one's
  alias none                     has no default collection, until one is made
  alias stale                    has an alias for one that does not exist, until one is made

Each line is answered with "ok".
"""

import os
import sys
import threading

from jeepney import (
    DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_return, new_signal)
from jeepney.io.blocking import open_dbus_connection

SERVICE = "/org/freedesktop/secrets"
COLLECTION = SERVICE + "/collection/only"
SESSION = SERVICE + "/session/s1"
PROMPT = SERVICE + "/prompt/p1"
INTERFACE = "org.freedesktop.Secret."


class Failure(Exception):
    pass


class Service:
    def __init__(self, connection):
        self.connection = connection
        self.sending = threading.Lock()
        self.faults = {}
        self.items = {}
        self.count = 0
        self.locked = False
        self.default = COLLECTION
        self.pending = None

    # What is sent

    def send(self, message):
        with self.sending:
            self.connection.send(message)

    def complete(self, dismissed, signature, value):
        source = DBusAddress(PROMPT, interface=INTERFACE + "Prompt")
        self.send(new_signal(source, "Completed", "bv", (dismissed, (signature, value))))

    def handle(self, call):
        fields = call.header.fields
        method = fields[HeaderFields.member]
        print("called", method, flush=True)
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

    # What the methods do

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
            return "", ()
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
        """What a prompt's Completed carries once the method was allowed."""
        def perform():
            return getattr(self, method)(path, *body)[1][0]
        return {"Unlock": "ao", "Lock": "ao", "CreateItem": "o", "Delete": "o",
                "CreateCollection": "o"}[method], perform

    def OpenSession(self, path, algorithm, value):
        if algorithm != "plain":
            raise Failure("org.freedesktop.DBus.Error.NotSupported")
        return "vo", (("s", ""), SESSION)

    def ReadAlias(self, path, name):
        return "o", (self.default if name == "default" else "/",)

    def SearchItems(self, path, attributes):
        self.collection(path)
        return "ao", ([item for item, (_, own, _) in self.items.items()
                       if attributes.items() <= own.items()],)

    def GetSecrets(self, path, items, session):
        return "a{o(oayays)}", ({} if self.locked else {
            item: (session, b"", self.items[item][2], "text/plain")
            for item in items if item in self.items},)

    def Unlock(self, path, objects):
        self.locked = False
        return "aoo", (objects, "/")

    def Lock(self, path, objects):
        self.locked = True
        return "aoo", (objects, "/")

    def CreateCollection(self, path, properties, alias):
        self.default = COLLECTION
        return "oo", (COLLECTION, "/")

    def CreateItem(self, path, properties, secret, replace):
        self.collection(path)
        if self.locked:
            raise Failure(INTERFACE + "Error.IsLocked")
        label = properties[INTERFACE + "Item.Label"][1]
        attributes = properties[INTERFACE + "Item.Attributes"][1]
        replaced = [item for item, (_, own, _) in self.items.items()
                    if attributes.items() <= own.items()] if replace else []
        if not replaced:
            self.count += 1
            replaced = ["%s/%d" % (COLLECTION, self.count)]
        self.items[replaced[0]] = (label, attributes, bytes(secret[2]))
        source = DBusAddress(COLLECTION, interface=INTERFACE + "Collection")
        self.send(new_signal(source, "ItemCreated", "o", (replaced[0],)))
        return "oo", (replaced[0], "/")

    def Delete(self, path):
        self.item(path)
        del self.items[path]
        return "o", ("/",)

    def SetSecret(self, path, secret):
        label, attributes, _ = self.item(path)
        self.items[path] = (label, attributes, bytes(secret[2]))
        return "", ()

    def Get(self, path, interface, name):
        if path == SERVICE and name == "Collections":
            return "v", (("ao", [COLLECTION]),)
        if path not in self.items:
            self.collection(path)
            return "v", ({"Label": ("s", "Only"), "Locked": ("b", self.locked)}[name],)
        return "v", ({"Label": ("s", self.items[path][0])}[name],)

    def GetAll(self, path, interface):
        label, attributes, _ = self.item(path)
        return "a{sv}", ({
            "Label": ("s", label), "Attributes": ("a{ss}", attributes),
            "Locked": ("b", self.locked), "Created": ("t", 1), "Modified": ("t", 1)},)

    def Set(self, path, interface, name, value):
        label, attributes, secret = self.item(path)
        self.items[path] = (value[1] if name == "Label" else label,
                            value[1] if name == "Attributes" else attributes, secret)
        return "", ()

    def collection(self, path):
        if path == SERVICE + "/aliases/default":
            path = self.default
        if path != COLLECTION:
            raise Failure(INTERFACE + "Error.NoSuchObject")

    def item(self, path):
        if path not in self.items:
            raise Failure(INTERFACE + "Error.NoSuchObject")
        return self.items[path]

    # What the test says

    def obey(self):
        for line in sys.stdin:
            words = line.split()
            if words[0] == "fault":
                self.faults[words[1]] = (words[2], " ".join(words[3:]))
            elif words[0] == "mend":
                self.faults = {}
            elif words[0] == "swap":
                self.items = dict(zip(self.items, reversed(self.items.values())))
            elif words[0] == "lock":
                self.locked = True
            elif words[0] == "alias":
                self.default = {"none": "/", "stale": SERVICE + "/collection/gone"}[words[1]]
            print("ok", flush=True)
        os._exit(0)


connection = open_dbus_connection()
service = Service(connection)
for name in ["org.freedesktop.secrets"] + sys.argv[1:]:
    connection.send_and_get_reply(message_bus.RequestName(name))
print("ready", flush=True)
threading.Thread(target=service.obey, daemon=True).start()
while True:
    try:
        message = connection.receive()
    except ConnectionError:
        sys.exit()
    if message.header.message_type == MessageType.method_call:
        service.handle(message)
