import KeyringMigration

print(PlaintextSource.self)
