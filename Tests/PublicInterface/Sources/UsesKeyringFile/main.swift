import KeyringFile

print(EncryptedFileStorage(at: "secrets", key: .keyFile(at: "key")))
