import Keyring

print(SecureStorageDefaults.service)
