"""A message bus that can't start a keyring, with the error of dbus-broker.

  fake-bus.py SOCKET [NAME ...]

The bus lists the names as activatable, but it starts no program. It answers a request for any name
with the error that the name has no owner. It prints "ready", and ends when its standard input ends.
"""

import os
import socket
import sys
import threading

from jeepney import HeaderFields, MessageType, Parser, new_error, new_method_return


def answer(call, names):
    method = call.header.fields[HeaderFields.member]
    if method == "Hello":
        return new_method_return(call, "s", (":1.1",))
    if method == "ListActivatableNames":
        return new_method_return(call, "as", (["org.freedesktop.DBus"] + names,))
    if method in ("AddMatch", "RemoveMatch"):
        return new_method_return(call)
    return new_error(call, "org.freedesktop.DBus.Error.NameHasNoOwner", "s",
                     ("Could not activate remote peer: startup job failed",))


def serve(connection, names):
    stream = connection.makefile("rwb", buffering=0)
    stream.read(1)
    while (line := stream.readline().strip()) and line != b"BEGIN":
        words = line.split()
        if words == [b"AUTH", b"EXTERNAL"]:
            stream.write(b"DATA\r\n")
        elif words[0] == b"DATA" or words[:2] == [b"AUTH", b"EXTERNAL"]:
            stream.write(b"OK %s\r\n" % (b"0" * 32))
        else:
            stream.write(b"REJECTED EXTERNAL\r\n" if words[0] == b"AUTH" else b"ERROR\r\n")
    parser = Parser()
    while data := connection.recv(4096):
        for message in parser.feed(data):
            if message.header.message_type == MessageType.method_call:
                reply = answer(message, names)
                reply.header.fields[HeaderFields.sender] = "org.freedesktop.DBus"
                reply.header.fields[HeaderFields.destination] = ":1.1"
                connection.sendall(reply.serialise(serial=message.header.serial))


def listen(listener, names):
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, names), daemon=True).start()


listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
threading.Thread(target=listen, args=(listener, sys.argv[2:]), daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
os._exit(0)
