// An app writes `import Keyring` and has everything: the properties, and the storages behind them.
@_exported public import KeyringSecretService
@_exported public import KeyringStorage
