import KeyringTesting

print(StorageContract.allCases.count)
