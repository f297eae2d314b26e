// With `import Keyring`, an app gets everything: the properties and the storages they use.
@_exported public import KeyringSecretService
@_exported public import KeyringStorage
