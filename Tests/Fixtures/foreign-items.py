"""A program that keeps items of its own in the keyring, as C code with libsecret and as python's SecretStorage.

It reads requests, one JSON object a line, and answers each with one. The actions "store", "lookup", "search" and
"clear" are libsecret's own calls, with the schema that the request names. "create", "items", "set-attributes",
"set-secret" and "delete" are SecretStorage's, which knows no schema. The arguments are the last part of the
collection's path, and the name of the provider.
"""

import base64
import ctypes
import json
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
import jeepney
import jeepney.io.blocking
import secretstorage
import secretstorage.util

COLLECTION, IS_KWALLET = sys.argv[1], sys.argv[2] == "kwallet"

# jeepney 0.8 gives the bus one second to authenticate it, which a busy machine exceeds.
jeepney.io.blocking.open_dbus_connection.__defaults__ = ("SESSION", False, 60)
if IS_KWALLET:
    # KWallet 5.103 can't use the keys of about one session in 256. It has no method of this name, and uses none.
    secretstorage.util.ALGORITHM_DH = "none"

secret = ctypes.CDLL("libsecret-1.so.0")
glib = ctypes.CDLL("libglib-2.0.so.0")
DONT_MATCH_NAME, SEARCH_ALL_UNLOCKED = 2, 14


class SchemaAttribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int)]


class Schema(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("flags", ctypes.c_int),
                ("attributes", SchemaAttribute * 32), ("reserved", ctypes.c_int),
                ("pointers", ctypes.c_void_p * 7)]


class GList(ctypes.Structure):
    pass


GList._fields_ = [("data", ctypes.c_void_p), ("next", ctypes.POINTER(GList))]


class GError(ctypes.Structure):
    _fields_ = [("domain", ctypes.c_uint32), ("code", ctypes.c_int), ("message", ctypes.c_char_p)]


def function(library, name, result, *arguments):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


P, S = ctypes.c_void_p, ctypes.c_char_p
duplicate = function(glib, "g_strdup", P, S)
insert = function(glib, "g_hash_table_insert", ctypes.c_int, P, P, P)
table = function(glib, "g_hash_table_new_full", P, P, P, P, P)
keys = function(glib, "g_hash_table_get_keys", ctypes.POINTER(GList), P)
value_of = function(glib, "g_hash_table_lookup", S, P, P)
store = function(secret, "secret_password_storev_sync", ctypes.c_int, P, P, S, S, S, P, P)
lookup = function(secret, "secret_password_lookupv_sync", S, P, P, P, P)
search = function(secret, "secret_password_searchv_sync", ctypes.POINTER(GList), P, P, ctypes.c_int, P, P)
clear = function(secret, "secret_password_clearv_sync", ctypes.c_int, P, P, P, P)
attributes_of = function(secret, "secret_retrievable_get_attributes", P, P)
secret_of = function(secret, "secret_retrievable_retrieve_secret_sync", P, P, P, P)
text_of = function(secret, "secret_value_get_text", S, P)
disconnect = function(secret, "secret_service_disconnect", None)


def members(found):
    while found:
        yield found.contents.data
        found = found.contents.next


def libsecret(request):
    action, attributes = request["action"], request["attributes"]
    schema = None
    if request.get("schema") is not None:
        schema = Schema(name=request["schema"].encode(),
                        flags=0 if request["matchesName"] else DONT_MATCH_NAME)
        for index, name in enumerate(sorted(attributes)):
            schema.attributes[index] = SchemaAttribute(name.encode(), 0)
        schema = ctypes.byref(schema)
    given = table(ctypes.cast(glib.g_str_hash, P), ctypes.cast(glib.g_str_equal, P), None, None)
    for name, value in attributes.items():
        insert(given, duplicate(name.encode()), duplicate(value.encode()))
    error = ctypes.POINTER(GError)()
    last = (None, ctypes.byref(error))
    if action == "store":
        answer = {"isDone": bool(store(
            schema, given, b"default", request["label"].encode(), base64.b64decode(request["secret"]), *last))}
    elif action == "lookup":
        found = lookup(schema, given, *last)
        answer = {"items": [] if found is None else [item("", {}, found)]}
    elif action == "clear":
        answer = {"isDone": bool(clear(schema, given, *last))}
    else:
        answer = {"items": []}
        for found in members(search(schema, given, SEARCH_ALL_UNLOCKED, *last)):
            shown = attributes_of(found)
            value = secret_of(found, None, None)
            answer["items"].append(item("", {
                ctypes.string_at(name).decode(): value_of(shown, name).decode()
                for name in members(keys(shown))}, text_of(value) if value else b""))
    if error:
        raise RuntimeError(error.contents.message.decode())
    return answer


def item(label, attributes, value, path=""):
    return {"label": label, "attributes": attributes, "secret": base64.b64encode(value).decode(),
            "path": path}


connection = secretstorage.dbus_init()
# All items then use one session, rather than one each.
session = secretstorage.util.open_session(connection)
collection = secretstorage.Collection(
    connection, "/org/freedesktop/secrets/collection/" + COLLECTION, session)
if collection.is_locked():
    # KWallet unlocks a wallet without a password only for a caller that asks for it.
    collection.unlock()


def call(path, interface, method, *arguments):
    address = jeepney.DBusAddress(path, "org.freedesktop.secrets", interface)
    answer = connection.send_and_get_reply(jeepney.new_method_call(address, method, *arguments))
    if answer.header.message_type == jeepney.MessageType.error:
        raise RuntimeError("%s: %s" % (method, answer.body))
    return answer.body[0]


def contents(paths):
    """Reads all items with fewer calls than SecretStorage."""
    secrets = call("/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "GetSecrets", "aoo",
                   (paths, session.object_path)) if paths else {}
    found = []
    for path in paths:
        shown = call(path, "org.freedesktop.DBus.Properties", "GetAll", "s",
                     ("org.freedesktop.Secret.Item",))
        _, vector, value, _ = secrets[path]
        value = bytes(value)
        if session.encrypted:
            decryptor = Cipher(algorithms.AES(session.aes_key), modes.CBC(bytes(vector))).decryptor()
            value = decryptor.update(value) + decryptor.finalize()
            value = value[:-value[-1]]
        found.append(item(shown["Label"][1], shown["Attributes"][1], value, path))
    return found


def storage(request):
    action, attributes = request["action"], request["attributes"]
    if action == "create":
        made = collection.create_item(
            request["label"], attributes, base64.b64decode(request["secret"]), request["replaces"], request["type"])
        return {"items": [item(request["label"], attributes, b"", made.item_path)]}
    if action == "items":
        found = collection.search_items(attributes) if attributes else collection.get_all_items()
        return {"items": contents([one.item_path for one in found])}
    one = secretstorage.Item(connection, request["path"], session)
    if action == "set-attributes":
        one.set_attributes(attributes)
    elif action == "set-secret":
        one.set_secret(base64.b64decode(request["secret"]))
    else:
        one.delete()
    return {"isDone": True}


for line in sys.stdin:
    request = json.loads(line)
    is_libsecret = request["action"] in ("store", "lookup", "search", "clear")
    try:
        answer = (libsecret if is_libsecret else storage)(request)
    except Exception as error:
        try:
            if not is_libsecret or not IS_KWALLET:
                raise
            # Another session has another key.
            disconnect()
            answer = libsecret(request)
        except Exception as error:
            answer = {"error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(answer), flush=True)
