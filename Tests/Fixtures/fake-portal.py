"""A Secret portal that misbehaves: fake-portal.py BEHAVIOR

It owns org.freedesktop.portal.Desktop on the bus of DBUS_SESSION_BUS_ADDRESS, prints "ready", and ends
when its standard input ends. It prints "asked" for each request for a secret. The behavior is one of these:

  token    gives a token, and another secret to a request without it
  parts    sends the secret in two parts, the second one after the signal
  decline  reports that the user has declined
  fail     reports another end of the request
  type     reports the end with arguments of another type
  forge    has another program report a success, and then reports that the user has declined
  short    sends a secret of eight bytes
  open     doesn't close the pipe
  wait     never reports the end of a request
  mute     doesn't answer the request
  leave    leaves the bus before it reports the end
  none     has no interface for secrets
"""

import os
import sys
import threading

from jeepney import (
    DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_return, new_signal)
from jeepney.io.blocking import open_dbus_connection

NAME = "org.freedesktop.portal.Desktop"
REQUEST = "org.freedesktop.portal.Request"
SECRET = b"the secret that is the same for the app each time"

behavior = sys.argv[1]
connection = open_dbus_connection("SESSION", enable_fds=True)
another = open_dbus_connection("SESSION")
connection.send_and_get_reply(message_bus.RequestName(NAME))
kept = []


def respond(sender, request, code, results, signature="ua{sv}", by=connection):
    body = (code, results) if signature == "ua{sv}" else (code,)
    signal = new_signal(DBusAddress(request, interface=REQUEST), "Response", signature, body)
    signal.header.fields[HeaderFields.destination] = sender
    by.send(signal)


def retrieve(call, descriptor, options):
    print("asked", flush=True)
    if behavior == "mute":
        return
    sender = call.header.fields[HeaderFields.sender]
    token = options["handle_token"][1]
    request = f"/org/freedesktop/portal/desktop/request/{sender[1:].replace('.', '_')}/{token}"
    connection.send(new_method_return(call, "o", (request,)))
    pipe = descriptor.to_raw_fd()
    if behavior == "leave":
        os._exit(0)
    if behavior == "wait":
        return
    if behavior in ("decline", "fail", "type"):
        os.close(pipe)
        code = 1 if behavior == "decline" else 2
        return respond(sender, request, code, {}, "u" if behavior == "type" else "ua{sv}")
    if behavior == "forge":
        os.close(pipe)
        respond(sender, request, 0, {}, by=another)
        # The bus has delivered the forged signal when it answers this call.
        another.send_and_get_reply(message_bus.GetId())
        return respond(sender, request, 1, {})
    results = {}
    secret = SECRET
    if behavior == "token":
        results = {"token": ("s", f"token of {len(kept)}")}
        known = options.get("token", ("s", ""))[1].removeprefix("token of ")
        if known:
            secret = kept[int(known)]
            results = {}
        else:
            secret = os.urandom(32)
            kept.append(secret)
    if behavior == "short":
        secret = secret[:8]
    if behavior == "parts":
        os.write(pipe, secret[:20])
        respond(sender, request, 0, results)
        os.write(pipe, secret[20:])
        return os.close(pipe)
    os.write(pipe, secret)
    if behavior == "open":
        kept.append(pipe)
    else:
        os.close(pipe)
    respond(sender, request, 0, results)


def serve():
    while True:
        message = connection.receive()
        if message.header.message_type != MessageType.method_call:
            continue
        member = message.header.fields[HeaderFields.member]
        if behavior == "none":
            name = "org.freedesktop.DBus.Error.UnknownMethod"
            connection.send(new_error(message, name, "s", ("no such interface",)))
        elif member == "RetrieveSecret":
            retrieve(message, *message.body)
        elif member == "Get":
            connection.send(new_method_return(message, "v", (("u", 1),)))


threading.Thread(target=serve, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
