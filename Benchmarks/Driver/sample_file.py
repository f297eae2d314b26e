"""Writes an encrypted file of many passwords, in the format that EncryptedFileFormat.md describes.

The library would write the whole file once for each password.
"""

import hashlib
import os
import pathlib
import struct
import time

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def write(path, service, passwords):
    """Writes the passwords, by account, to a file, and its key to another file beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    key, data_key, salt, nonce = (os.urandom(size) for size in (32, 32, 32, 12))
    put(pathlib.Path(f"{path}.key"), key)
    header = b"KEYRING\n" + struct.pack(">H6B", 1, 2, 0, 0, 0, 0, 0) + salt
    wrapping = AESGCM(HKDF(hashes.SHA256(), 32, salt, b"swift-keyring file").derive(key))
    header += nonce + wrapping.encrypt(nonce, data_key, header)
    header += hashlib.sha256(header).digest()
    now = time.time_ns() // 1_000
    content = [text(path.name), struct.pack(">QI", len(passwords), len(passwords))]
    for revision, (account, password) in enumerate(passwords.items(), 1):
        content += [
            struct.pack(">3Q", revision, now, now), text("password"),
            attributes({"service": service, "username": account}),
            text(f"{service}: {account}"), attributes({}), text(password)]
    put(path, header + nonce + AESGCM(data_key).encrypt(nonce, b"".join(content), header))


def text(value):
    value = value.encode()
    return struct.pack(">I", len(value)) + value


def attributes(values):
    return struct.pack(">I", len(values)) + b"".join(map(text, sum(values.items(), ())))


def put(path, content):
    path.write_bytes(content)
    path.chmod(0o600)
