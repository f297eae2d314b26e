// An app names the sources of keys wherever it creates a storage.
@_exported public import KeyringSealing
