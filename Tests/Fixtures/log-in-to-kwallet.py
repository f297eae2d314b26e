"""Becomes KWallet, started as pam_kwallet starts it when a user logs in.

  log-in-to-kwallet.py PROGRAM FILE [PASSWORD]

By default, the user's password is empty. FILE is the file of the default wallet's salt. KWallet creates the wallet if it isn't there, and opens it. It gets the
key of the wallet through a pipe, and the variables of the user's session through a socket.
"""

import hashlib
import os
import socket
import sys

program, file = sys.argv[1:3]
password = "".join(sys.argv[3:]).encode()
if not os.path.exists(file):
    with open(file, "wb") as output:
        output.write(os.urandom(56))
with open(file, "rb") as salt:
    key = hashlib.pbkdf2_hmac("sha512", password, salt.read(), 50_000, 56)

reading, writing = os.pipe()
os.write(writing, key)
os.close(writing)

address = os.path.join(os.environ["XDG_RUNTIME_DIR"], "kwallet.socket")
listening = socket.socket(socket.AF_UNIX)
listening.bind(address)
listening.listen()
# KWallet accepts this connection, and reads that there are no more variables.
with socket.socket(socket.AF_UNIX) as session:
    session.connect(address)
os.unlink(address)

# KWallet looks at its arguments only with this variable.
os.environ["PAM_KWALLET5_LOGIN"] = address
for inherited in reading, listening.fileno():
    os.set_inheritable(inherited, True)
os.execlp(program, program, "--pam-login", str(reading), str(listening.fileno()))
