import KeyringConfiguration

print(SecureStorageProvider.self)
