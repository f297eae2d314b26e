"""A Secret Service that obeys orders, with plain sessions unless a mode says something else.

It owns org.freedesktop.secrets on the bus of DBUS_SESSION_BUS_ADDRESS, prints "ready", and ends
when its standard input ends. If its arguments are names, it owns these, too. It then reads no orders, and ends with
the bus. It takes the names of "--later NAME" just before it answers the first call. With "--disk FILE", it begins with what the file has, and writes its collections and items there. Without,
they are in memory only. "--mode MODE" gives it one behavior of a real provider, from the first call on, as often as
the option is there. The values of the modes are in MODES.

For each call, it prints "called METHOD". Each line of input is an order, which FakeService.swift describes.
The answer to each line is "ok".
"""

import argparse
import base64
import hmac
import json
import os
import random
import sys
import threading
import time

from cryptography.hazmat.primitives import padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes as cipher_modes
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
UNKNOWN = "org.freedesktop.DBus.Error.UnknownObject"
ODD = "org.freedesktop.zbus.Error"
CONTENT_TYPE = "xdg:content-type"
PASSWORDS = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"
ALGORITHM = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
# The second group of RFC 2409, 6.2, whose generator is 2.
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)

# The orders that only switch a behavior on.
SWITCHES = ("churn", "part", "quiet", "retire", "shy", "strict", "stubborn", "unheard", "wither")

# The value of a mode is the meaning of its number: "late=200", for example. Without a number, it's a constant.
MODES = {
    # SetSecret, Label and Attributes change only memory. CreateItem and Delete change the disk, too (oo7).
    "memory": 0,
    # Delete removes from the disk each item whose attributes there contain those that the deleted item has in
    # memory. In memory, it removes one (oo7).
    "sweeping": 0,
    # A creation replaces only items with exactly the same attributes, on the disk and in memory (oo7). Otherwise,
    # it replaces one item that has at least these attributes (gnome-keyring 42.1).
    "exact": 0,
    # A creation replaces all items that have at least these attributes, on the disk and in memory (oo7 until August
    # 2026).
    "containing": 0,
    # A replacement is ItemDeleted, and ItemCreated under a new path. Questions that come within 20 ms of the first
    # of them are answered in between, up to the first search (oo7).
    "gap": 0,
    # Each item has an attribute with the content type of its secret (oo7).
    "content-type": 0,
    # Secrets of other content types than these are refused (oo7).
    "types": 0,
    # For that many milliseconds after it has its name, it never answers OpenSession, has no collection, and knows
    # no object but the service (oo7).
    "sleepy": 60,
    # The same for that many calls.
    "sleepy-calls": 3,
    # There are no objects for aliases. ReadAlias knows them. (oo7 has none for the alias "session".)
    "no-aliases": 0,
    # A locked item isn't found, and shows no property but its lock (oo7).
    "hiding": 0,
    # Unlock, CreateItem and Delete need a prompt where something is locked (oo7).
    "prompting": 0,
    # Prompt answers when the user has answered, and that many prompts never end (oo7 in a terminal, after a wrong
    # password).
    "prompt-silent": 1 << 30,
    # Prompt takes a second, and the prompt ends three seconds later. Until then, Prompt answers with an error (a
    # program that starts slowly shows it).
    "prompt-slow": 0,
    # Items have other paths after a restart (oo7).
    "renumbering": 0,
    # The label of a new collection begins with a capital. One with "/" in its label is lost at the restart (oo7).
    "capitals": 0,
    # There is a collection that ends with the provider. Only ReadAlias knows that it's "session" (oo7).
    "session": 0,
    # Locking and unlocking send ItemChanged for each item (gnome-keyring 42.1, oo7).
    "restless": 0,
    # A replaced item keeps its label (KWallet 5.103 to 6.30).
    "label-kept": 0,
    # The disk is written that many milliseconds after the last change (KWallet 5.103, KeePassXC 2.7.4).
    "late": 200,
    # Sessions are encrypted, and not plain.
    "encrypted": 0,
    # It misbehaves as a random generator with this seed tells it to.
    "hostile": 0,
    # The collections are locked at the start (KWallet 5.103).
    "locked": 0,
    # There are methods that take the password of a collection, which is "right" (gnome-keyring 42.1, oo7).
    "passwords": 0,
}


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
        self.record = None


class Service:
    def __init__(self, connection, modes, disk):
        self.connection = connection
        self.modes = modes
        self.disk = disk
        self.records = []
        self.saving = None
        self.postponed = []
        self.sleeps_until = time.monotonic() + modes.get("sleepy", 0) / 1000
        self.calls_asleep = modes.get("sleepy-calls", 0)
        self.shows_prompt = False
        self.silent_prompts = modes.get("prompt-silent", 0)
        self.sending = threading.Lock()
        self.faults = {}
        self.held = []
        self.collections = {COLLECTION: Collection("Only")}
        self.items = {}
        self.default = COLLECTION
        self.keys = {}
        self.session = "/"
        self.relabeling = None
        self.pending = None
        self.hidden = "items" if "hiding" in modes else "none"
        self.abdicated = False
        self.unreachable = None
        for name in SWITCHES:
            setattr(self, name, False)
        self.rival = None
        self.last = None
        self.unusable = 0
        self.names = ["org.freedesktop.secrets"]
        if disk and os.path.exists(disk):
            self.load()
        for collection in self.collections.values():
            collection.locked = "locked" in modes
        if "session" in modes:
            self.session = SERVICE + "/collection/session"
            self.collections[self.session] = Collection("session")

    # The disk

    def load(self):
        with open(self.disk) as file:
            state = json.load(file)
        self.default = state["default"]
        self.collections = {}
        for path, label, count in state["collections"]:
            self.collections[path] = Collection(label)
            self.collections[path].count = 0 if "renumbering" in self.modes else count
        for record in state["items"]:
            if "renumbering" in self.modes:
                record["path"] = self.new_path(record["path"].rsplit("/", 1)[0])
            item = Item(record["label"], dict(record["attributes"]),
                        base64.b64decode(record["secret"]), record["kind"])
            item.created, item.modified = record["created"], record["modified"]
            item.record = record
            self.items[record["path"]] = item
            self.records.append(record)

    def new_path(self, collection):
        self.collections[collection].count += 1
        return "%s/%d" % (collection, self.collections[collection].count)

    def keep(self, path):
        """Makes the record of an item what is in memory."""
        item = self.items[path]
        if not any(record is item.record for record in self.records):
            item.record = {}
            self.records.append(item.record)
        item.record.update(
            path=path, label=item.label, attributes=dict(item.attributes), kind=item.kind,
            secret=base64.b64encode(item.secret).decode(), created=item.created,
            modified=item.modified)
        self.save()

    def forget_records(self, is_forgotten):
        self.records = [record for record in self.records if not is_forgotten(record)]
        self.save()

    def save(self):
        """Writes the disk, now or late."""
        if not self.disk:
            return
        kept = [(path, collection.label, collection.count)
                for path, collection in self.collections.items() if path != self.session
                and not ("capitals" in self.modes and "/" in collection.label)]
        paths = {path for path, _, _ in kept}
        state = {"default": self.default, "collections": kept, "items": [
            record for record in self.records if record["path"].rsplit("/", 1)[0] in paths]}
        self.text = json.dumps(state, indent=1)
        if "late" not in self.modes:
            return self.write()
        if self.saving:
            self.saving.cancel()
        self.saving = threading.Timer(self.modes["late"] / 1000, self.write)
        self.saving.daemon = True
        self.saving.start()

    def write(self):
        with open(self.disk + ".new", "w") as file:
            file.write(self.text)
        os.rename(self.disk + ".new", self.disk)

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

    def end_prompt(self):
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

    def handle(self, call):
        fields = call.header.fields
        method = fields[HeaderFields.member]
        if not self.quiet:
            print("called", method, flush=True)
        if self.is_asleep():
            if method == "OpenSession":
                return
            return self.send(self.answer_asleep(call, fields[HeaderFields.path], method))
        if self.hidden == "default":
            self.move()
        kind, argument = self.faults.get(method, ("none", ""))
        if kind == "mute":
            return
        if kind == "leave":
            os._exit(0)
        if kind in ("lock", "once"):
            del self.faults[method]
        if kind == "lock":
            self.set_locks(list(self.collections), True)
        if kind in ("error", "once"):
            name, _, text = argument.partition(" ")
            answer = new_error(call, name, "s", (text or "as the test wants it",))
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
            threading.Timer(float(argument), self.reply, [answer]).start()
        elif kind == "held":
            self.held.append(answer)
            # The order to release it may have come at this moment.
            if method not in self.faults:
                self.release()
        else:
            self.reply(answer)
        if kind == "last":
            os._exit(0)

    def reply(self, answer):
        while self.later_names:
            self.send(message_bus.RequestName(self.later_names.pop()))
        self.send(answer)

    def release(self):
        while True:
            try:
                answer = self.held.pop(0)
            except IndexError:
                return
            self.reply(answer)

    def is_asleep(self):
        self.calls_asleep -= 1
        return self.calls_asleep >= 0 or time.monotonic() < self.sleeps_until

    def answer_asleep(self, call, path, method):
        answers = {"Get": ("v", (("ao", []),)), "SearchItems": ("aoao", ([], [])),
                   "ReadAlias": ("o", ("/",)), "Unlock": ("aoo", ([], "/"))}
        if path != SERVICE or method not in answers:
            return new_error(call, UNKNOWN, "s", ("it is asleep",))
        return new_method_return(call, *answers[method])

    def receive(self):
        """Answers the next message."""
        message = self.postponed.pop(0) if self.postponed else self.connection.receive()
        if message.header.message_type == MessageType.method_call:
            self.handle(message)

    def answer_in_gap(self):
        """Answers questions while an item isn't there."""
        end = time.monotonic() + 0.02
        parts, self.part = self.part, False
        while True:
            try:
                message = self.connection.receive(
                    timeout=None if parts else max(0, end - time.monotonic()))
            except TimeoutError:
                return
            method = message.header.fields.get(HeaderFields.member)
            if message.header.message_type != MessageType.method_call:
                continue
            if method not in ("Get", "GetAll", "GetSecrets", "ReadAlias", "SearchItems"):
                # What changes something takes place one after the other.
                self.postponed.append(message)
                continue
            self.handle(message)
            if method == "SearchItems":
                return

    # Methods

    def answer(self, path, method, body, prompt):
        if method == "Prompt":
            self.silent_prompts -= 1
            if self.silent_prompts >= 0:
                # The user types a wrong password.
                time.sleep(1)
                return "", ()
            if "prompt-slow" in self.modes:
                if self.shows_prompt:
                    raise Failure(ODD)
                self.shows_prompt = True
                threading.Timer(4, self.end_prompt).start()
                time.sleep(1)
            else:
                self.end_prompt()
            return "", ()
        if self.abdicated:
            raise Failure(UNKNOWN)
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
        if "encrypted" in self.modes and algorithm == ALGORITHM:
            number = int.from_bytes(os.urandom(128), "big")
            shared = pow(int.from_bytes(value[1], "big"), number, PRIME).to_bytes(128, "big")
            # HKDF (RFC 5869) without a salt and a context.
            session = "%s/session/s%d" % (SERVICE, len(self.keys) + 1)
            self.keys[session] = hmac.digest(
                hmac.digest(bytes(32), shared, "sha256"), b"\1", "sha256")[:16]
            return "vo", (("ay", pow(2, number, PRIME).to_bytes(128, "big")), session)
        if algorithm != "plain" or "encrypted" in self.modes:
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
        if path == SERVICE:
            return "aoao", (self.matches(SERVICE + "/collection", attributes), [])
        path = self.collection(path)
        if self.collections[path].locked:
            if self.hidden == "items":
                return "ao", ([],)
            if self.hidden == "search":
                raise Failure(LOCKED)
        return "ao", (self.matches(path, attributes),)

    def matches(self, path, attributes, exactly=False):
        found = [name for name, item in self.items.items()
                 if name.startswith(path + "/") and attributes.items() <= item.attributes.items()
                 and not (exactly and attributes != item.attributes)]
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
            item: (session, *self.encrypted(
                b"" if self.is_locked(item) else self.items[item].secret, session),
                   self.items[item].kind)
            for item in items},)

    def GetSecret(self, path, session):
        found = self.GetSecrets(SERVICE, [path], session)[1][0]
        if path not in found:
            raise Failure(LOCKED)
        return "(oayays)", (found[path],)

    def key(self, session):
        """Returns the key of an encrypted session, or None."""
        if "encrypted" in self.modes and session not in self.keys:
            raise Failure(INTERFACE + "Error.NoSession")
        return self.keys.get(session)

    def encrypted(self, secret, session):
        key = self.key(session)
        if not key:
            return b"", secret
        padder = padding.PKCS7(128).padder()
        vector = os.urandom(16)
        cipher = Cipher(algorithms.AES(key), cipher_modes.CBC(vector)).encryptor()
        return vector, cipher.update(padder.update(secret) + padder.finalize()) + cipher.finalize()

    def decrypted(self, secret):
        session, vector, value, kind = secret
        key = self.key(session)
        if not key:
            return secret
        cipher = Cipher(algorithms.AES(key), cipher_modes.CBC(bytes(vector))).decryptor()
        unpadder = padding.PKCS7(128).unpadder()
        value = unpadder.update(cipher.update(bytes(value)) + cipher.finalize()) + unpadder.finalize()
        return session, b"", value, kind

    def Introspect(self, path):
        names = [INTERFACE + "Service"] + [PASSWORDS] * ("passwords" in self.modes)
        return "s", ("<node>%s</node>" % "".join('<interface name="%s"/>' % name for name in names),)

    def UnlockWithMasterPassword(self, path, collection, secret):
        if "passwords" not in self.modes:
            raise Failure("org.freedesktop.DBus.Error.UnknownMethod")
        if self.decrypted(secret)[2] != b"right":
            raise Failure(ODD)
        self.set_locks([collection], False)
        return "", ()

    def CreateWithMasterPassword(self, path, properties, secret):
        if "passwords" not in self.modes:
            raise Failure("org.freedesktop.DBus.Error.UnknownMethod")
        self.decrypted(secret)
        return "o", (self.CreateCollection(path, properties, "")[1][0],)

    def SetAlias(self, path, name, collection):
        if name == "default":
            self.default = collection
            self.save()
        return "", ()

    def Unlock(self, path, objects):
        if "prompting" in self.modes and any(
                self.collections[name].locked if name in self.collections
                else self.is_locked(name) for name in objects
                if name in self.collections or name in self.items):
            self.pending = ("accept", ("ao", lambda: self.unlock(objects)))
            return "aoo", ([], PROMPT)
        self.set_locks(objects, False)
        return "aoo", (objects, "/")

    def unlock(self, objects):
        self.set_locks(objects, False)
        return objects

    def Lock(self, path, objects):
        self.set_locks(objects, True)
        return "aoo", (objects, "/")

    def CreateCollection(self, path, properties, alias):
        label = self.relabeling or properties.get(INTERFACE + "Collection.Label", ("s", "Only"))[1]
        if "capitals" in self.modes:
            label = label[:1].upper() + label[1:]
        path = COLLECTION
        if self.default in self.collections:
            path = "%s/collection/z%d" % (SERVICE, len(self.collections))
        self.collections.setdefault(path, Collection(label))
        if alias == "default":
            self.default = path
        self.save()
        self.signal(SERVICE, "CollectionCreated", path)
        return "oo", (path, "/")

    def CreateItem(self, path, properties, secret, replace):
        path, secret = self.collection(path), self.decrypted(secret)
        self.refuse_type(secret)
        if self.collections[path].locked:
            if self.hidden != "items" and "prompting" not in self.modes:
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
        if self.retire:
            self.retire = False
            self.Delete(next(iter(self.items)))
        if "content-type" in self.modes:
            attributes = {CONTENT_TYPE: secret[3].split(";")[0], **attributes}
        exact = "exact" in self.modes
        found = self.matches(path, attributes, exact) if replace else []
        item = Item(label, attributes, bytes(secret[2]), secret[3])
        if found:
            replaced = self.items[found[0]]
            item.created = replaced.created
            item.modified = max(replaced.modified, item.modified)
            if "label-kept" in self.modes:
                item.label = replaced.label
            item.record = replaced.record
        if replace and (exact or "containing" in self.modes):
            self.forget_records(
                lambda record: record["path"].startswith(path + "/")
                and (record["attributes"] == attributes if exact
                     else attributes.items() <= record["attributes"].items()))
            for name in found[1:]:
                self.discard(name)
        if found and "gap" in self.modes:
            # The disk has the new item already.
            self.items[found[0]] = item
            self.keep(found[0])
            self.discard(found[0])
            self.answer_in_gap()
            found = []
        name = found[0] if found else self.new_path(path)
        self.items[name] = item
        self.keep(name)
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
            self.forget_records(lambda record: record["path"].startswith(path + "/"))
            self.signal(SERVICE, "CollectionDeleted", path)
            return "o", ("/",)
        self.item(path)
        if self.is_locked(path) and "prompting" in self.modes:
            self.pending = ("accept", ("o", lambda: self.delete_unlocked(path)))
            return "o", (PROMPT,)
        if self.is_locked(path) and self.hidden != "secrets":
            raise Failure(LOCKED)
        self.delete(path)
        return "o", ("/",)

    def delete_unlocked(self, path):
        self.set_locks([path], False)
        if path in self.items:
            self.delete(path)
        return "/"

    def delete(self, path):
        item, collection = self.items[path], path.rsplit("/", 1)[0]
        self.forget_records(
            lambda record: record["path"].startswith(collection + "/")
            and item.attributes.items() <= record["attributes"].items()
            if "sweeping" in self.modes else record is item.record)
        self.discard(path)

    def discard(self, path):
        del self.items[path]
        self.signal(path.rsplit("/", 1)[0], "ItemDeleted", path)

    def refuse_type(self, secret):
        if "types" in self.modes and secret[3].split(";")[0].strip() not in (
                "text/plain", "text/utf8", "application/json", "application/octet-stream",
                "application/binary"):
            raise Failure(ODD)

    def SetSecret(self, path, secret):
        item, secret = self.item(path), self.decrypted(secret)
        if self.is_locked(path):
            if self.hidden != "secrets":
                raise Failure(LOCKED)
            return "", ()
        if secret[0] == UNUSABLE:
            raise Failure(UNDECIPHERED)
        self.refuse_type(secret)
        item.secret, item.kind = bytes(secret[2]), secret[3]
        if "content-type" in self.modes:
            item.attributes = {**item.attributes, CONTENT_TYPE: item.kind.split(";")[0]}
        self.last = path
        self.changed(path, is_heard=not self.unheard)
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
        if self.churn:
            self.items[self.new_path(path.rsplit("/", 1)[0])] = self.items.pop(path)
            raise Failure(INTERFACE + "Error.NoSuchObject")
        if self.wither:
            attributes = {}
            self.Delete(path)
        if (self.hidden == "attributes" or "hiding" in self.modes) and self.is_locked(path):
            return {"Locked": ("b", True)}
        return {
            "Label": ("s", item.label), "Attributes": ("a{ss}", attributes),
            "Locked": ("b", not self.wither and self.is_locked(path)),
            "Created": ("t", item.created), "Modified": ("t", item.modified)}

    def Set(self, path, interface, name, value):
        item = self.item(path)
        if self.is_locked(path):
            raise Failure(LOCKED)
        if name == "Label":
            item.label = value[1]
        else:
            kind = {CONTENT_TYPE: item.attributes[CONTENT_TYPE]} \
                if "content-type" in self.modes else {}
            item.attributes = {**kind, **value[1]}
        self.changed(path)
        return "", ()

    # Collections and items

    def make_second(self, name):
        path = SERVICE + "/collection/" + name
        self.collections[path] = Collection("Second")
        self.save()
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
            path = self.new_path(name.rsplit("/", 1)[0])
            copy = Item(item.label, item.attributes, item.secret, item.kind)
            copy.modified = item.modified + 1
            self.items[path] = copy
            self.keep(path)

    def changed(self, path, is_heard=True):
        if "memory" not in self.modes:
            self.keep(path)
        self.items[path].modified = int(time.time())
        if is_heard:
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
                    if "restless" in self.modes and name.startswith(collection + "/"):
                        self.signal(collection, "ItemChanged", name)
                self.signal(SERVICE, "CollectionChanged", collection)

    def collection(self, path):
        if "no-aliases" in self.modes and path.startswith(SERVICE + "/aliases/"):
            raise Failure(UNKNOWN)
        if path == SERVICE + "/aliases/default":
            path = self.default
        if path not in self.visible() or path == self.unreachable:
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
            elif words[0] == "release":
                self.faults = {name: fault for name, fault in self.faults.items() if fault[0] != "held"}
                self.release()
            elif words[0] == "reset":
                self.faults = {}
                self.wither = self.churn = self.stubborn = False
            elif words[0] in SWITCHES:
                setattr(self, words[0], True)
            elif words[0] == "duplicate":
                self.duplicate()
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
            elif words == ["alias", "unreachable"]:
                self.unreachable = self.default
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
            elif words[0] == "sync":
                if self.saving:
                    self.saving.cancel()
                    self.write()
            elif words[0] == "abdicate":
                self.abdicated = True
                self.connection.send(message_bus.ReleaseName("org.freedesktop.secrets"))
            elif words[0] == "age":
                for item in self.items.values():
                    item.created -= int(words[1])
                    item.modified -= int(words[1])
            elif words[0] == "name":
                self.names.append(words[1])
                self.connection.send(message_bus.RequestName(words[1]))
            elif words[0] == "honest":
                self.settle()
            elif words[0] == "hide":
                self.hidden = words[1]
                if self.hidden == "default":
                    self.make_second("second")
            print("ok", flush=True)
        os._exit(0)


class HostileService(Service):
    """A service that obeys a random generator until the order "honest" comes.

    It holds its items as an honest one does, and is never wrong about the two things that only it can know: which
    items have the attributes of a search, and which secret is an item's. Everything else may be wrong. An item may
    move to a path that another one has had, but only after each call that knew the other one there has ended.
    """

    # The misbehaviors, and how often one of a thousand answers has them.
    KINDS = {
        "honest": 870, "mute": 8, "late": 15, "double": 15, "late-order": 10, "refuse": 15, "lose": 10, "type": 15,
        "huge": 4, "session": 5, "more": 15, "null": 8, "prompt": 10}
    # What happens before one of a thousand calls.
    EVENTS = {
        "nothing": 920, "signal": 40, "move": 25, "lock": 3, "abdicate": 1, "impostor": 1, "anonymous": 2, "die": 2,
        "label": 6}
    ERRORS = (
        LOCKED, UNKNOWN, UNDECIPHERED, ODD, *(INTERFACE + "Error." + name for name in (
            "NoSession", "NoSuchObject", "AlreadyExists")),
        *("org.freedesktop.DBus.Error." + name for name in (
            "AccessDenied", "Disconnected", "Failed", "InvalidArgs", "LimitsExceeded", "NameHasNoOwner", "NoMemory",
            "NoReply", "NotSupported", "ServiceUnknown", "Spawn.ChildExited", "Timeout", "UnknownMethod")))
    VALUES = (
        ("", ()), ("s", ("nonsense",)), ("o", ("/",)), ("u", (7,)), ("v", (("u", 7),)), ("b", (True,)), ("ay", (b"x",)),
        ("v", (("ao", []),)), ("a{sv}", ({"Locked": ("s", "no"), "Attributes": ("as", [])},)),
        ("a{sv}", ({},)), ("a{o(oayays)}", ({},)), ("oo", ("/", "/")), ("aoo", ([], "/")), ("aoao", ([], [])))
    PATHS_REST = 8

    def __init__(self, connection, modes, disk):
        super().__init__(connection, modes, disk)
        self.random = random.Random(modes["hostile"])
        self.stranger = open_dbus_connection(auth_timeout=60)
        self.is_hostile = True
        self.misdeeds = []
        self.kept_back = []
        # The paths that items have left, and the times after which others may have them.
        self.left = []

    def choose(self, weights):
        chosen, = self.random.choices(list(weights), weights.values())
        if chosen not in ("honest", "nothing"):
            self.misdeeds.append(chosen)
        return chosen

    def handle(self, call):
        if not self.is_hostile:
            return super().handle(call)
        fields = call.header.fields
        method, path = fields[HeaderFields.member], fields[HeaderFields.path]
        if self.happen(self.choose(self.EVENTS)):
            return
        kind = self.choose(self.KINDS)
        if kind in ("mute", "refuse"):
            # The rest of them perform the call.
            return kind == "refuse" and self.send_all(new_error(call, *self.error()))
        prompts = kind == "prompt" and method in ("Unlock", "Lock", "CreateItem", "Delete", "CreateCollection")
        try:
            signature, body = self.answer(path, method, call.body, prompts and self.random.choice(
                ("accept", "dismiss", "mute", "type", "none")))
            answer = new_method_return(call, *self.distort(kind, call.body, method, signature, body))
        except Failure as failure:
            answer = new_error(call, str(failure), "s", ("no such thing",))
        except (KeyError, TypeError, ValueError):
            # It's for an object of another kind, or for a session that has ended.
            answer = new_error(call, INTERFACE + "Error.NoSuchObject", "s", ("it makes no sense",))
        if kind == "lose":
            answer = new_error(call, *self.error())
        if kind == "late":
            threading.Timer(self.random.random(), self.send_safely, [answer]).start()
        elif kind == "late-order":
            self.kept_back.append(answer)
        else:
            self.send_all(*[answer] * (2 if kind == "double" else 1))

    def send_safely(self, message):
        try:
            self.send(message)
        except OSError:
            # The connection that the call came from has ended.
            pass

    def send_all(self, *answers):
        for answer in (*answers, *reversed(self.kept_back)):
            self.send_safely(answer)
        self.kept_back = []

    def error(self):
        text = "x" * self.random.choice((0, 10, 10, 100_000))
        return self.random.choice(self.ERRORS), *self.random.choice((("s", (text,)), ("", ()), ("u", (7,))))

    def distort(self, kind, arguments, method, signature, body):
        """Returns what takes the place of an answer."""
        if kind == "type":
            return self.random.choice(self.VALUES)
        others = [path for path in self.items if self.random.random() < 0.3]
        if method == "GetSecrets" and signature == "a{o(oayays)}":
            secrets = dict(body[0])
            if kind == "more":
                secrets.update(self.GetSecrets(SERVICE, others, arguments[1])[1][0])
            elif kind == "huge":
                secrets.update(("%s/huge/%d" % (SERVICE, number), (arguments[1], b"", bytes(1000), "text/plain"))
                               for number in range(2000))
            elif kind == "session":
                # Anything that a wrong key decrypts by chance would be taken for the secret.
                other = SERVICE + "/session/" + self.random.choice(("s2", "unusable"))
                secrets = {path: (other, *secret[1:]) for path, secret in secrets.items()}
            elif kind == "null":
                secrets = {"/": secret for secret in secrets.values()}
            return signature, (secrets,)
        if kind == "null" and signature in ("o", "oo", "vo"):
            return signature, tuple("/" if name == "o" else value for name, value in zip(signature, body))
        if method == "SearchItems" and body[0]:
            if kind == "null":
                return signature, (["/"],)
            if kind == "huge":
                return signature, (body[0] + ["%s/huge/%d" % (COLLECTION, number) for number in range(300)],)
            if kind == "more":
                return signature, (body[0] + [path for path in others if path not in body[0]],)
        if kind == "huge" and signature == "a{sv}":
            return signature, ({**body[0], "Huge": ("ay", bytes(1 << 20))},)
        return signature, body

    def happen(self, event):
        """Lets something happen, and returns True if the call is lost by it."""
        if event == "signal":
            self.send_signal()
        elif event == "move" and self.items:
            self.move_item(self.random.choice(list(self.items)))
        elif event == "label" and self.items:
            self.items[self.random.choice(list(self.items))].label = self.random.choice(("", "é" * 1000, "/"))
        elif event == "lock":
            self.set_locks(list(self.collections), True)
        elif event in ("abdicate", "impostor", "anonymous"):
            names = self.names[:1] if event != "anonymous" else self.names[1:]
            for name in names:
                self.send(message_bus.ReleaseName(name))
                if event == "impostor":
                    # It never answers.
                    self.stranger.send(message_bus.RequestName(name))
            threading.Timer(0.3, self.return_names, [names, event == "impostor"]).start()
        elif event == "die":
            self.reconnect()
            return True
        return False

    def return_names(self, names, from_stranger):
        for name in names:
            if from_stranger:
                self.stranger.send(message_bus.ReleaseName(name))
            self.send_safely(message_bus.RequestName(name))

    def reconnect(self):
        """Leaves the bus, and comes back as a new program with the same items."""
        with self.sending:
            self.connection.close()
            self.connection = open_dbus_connection(auth_timeout=60)
            self.keys = {}
            for name in self.names:
                self.connection.send(message_bus.RequestName(name))

    def move_item(self, path):
        collection = path.rsplit("/", 1)[0]
        free = [entry for entry in self.left if entry[1] < time.monotonic()]
        if free and "org.gnome.keyring" not in self.names:
            self.left.remove(free[0])
            new = free[0][0]
        else:
            new = self.new_path(collection)
        self.left.append((path, time.monotonic() + self.PATHS_REST))
        self.items[new] = self.items.pop(path)
        self.keep(new)

    def send_signal(self):
        paths = [COLLECTION, SERVICE, PROMPT, "/", SERVICE + "/huge", *self.items]
        interface, names = self.random.choice((
            (INTERFACE + "Collection", ("ItemCreated", "ItemChanged", "ItemDeleted", "Odd")),
            (INTERFACE + "Service", ("CollectionCreated", "CollectionChanged", "CollectionDeleted")),
            (INTERFACE + "Prompt", ("Completed",)), ("swift_keyring.Item", (
                "SecretChanging", "SecretSet", "SecretKept", "AttributesChanging", "Odd"))))
        arguments = self.random.choice((*self.VALUES, ("o", (self.random.choice(paths),)), ("bv", (False, ("s", "")))))
        source = DBusAddress(self.random.choice(paths), interface=interface)
        signal = new_signal(source, self.random.choice(names), *arguments)
        if self.random.random() < 0.5:
            self.send_safely(signal)
        else:
            self.stranger.send(signal)

    def settle(self):
        """Ends the misbehavior, and names what there was, in its order."""
        self.is_hostile = False
        self.send_all()
        self.return_names(self.names, True)
        self.set_locks(list(self.collections), False)
        for misdeed in self.misdeeds:
            print("did", misdeed)


parser = argparse.ArgumentParser()
parser.add_argument("--disk")
parser.add_argument("--mode", action="append", default=[])
parser.add_argument("--later", action="append", default=[])
parser.add_argument("names", nargs="*")
options = parser.parse_args()
modes = {}
for mode in options.mode:
    word, _, number = mode.partition("=")
    modes[word] = int(number) if number else MODES[word]

connection = open_dbus_connection(auth_timeout=60)
connection.send_and_get_reply(message_bus.RequestName("org.freedesktop.secrets"))
service = (HostileService if "hostile" in modes else Service)(connection, modes, options.disk)
for name in options.names:
    connection.send_and_get_reply(message_bus.RequestName(name))
service.later_names = options.later
print("ready", flush=True)
if not options.names:
    threading.Thread(target=service.obey, daemon=True).start()
while True:
    try:
        service.receive()
    except ConnectionError:
        sys.exit()
