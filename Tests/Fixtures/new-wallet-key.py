"""Derives the key of a new wallet in the same way as pam_kwallet does at a login, from an empty password.

  new-wallet-key.py FILE

FILE is the file of the wallet's salt. The program writes a new salt to it, and prints the key as an argument
for gdbus.
"""

import hashlib
import os
import sys

salt = os.urandom(56)
with open(sys.argv[1], "wb") as file:
    file.write(salt)
key = hashlib.pbkdf2_hmac("sha512", b"", salt, 50_000, 56)
print("[%s]" % ", ".join("byte %d" % byte for byte in key), end="")
