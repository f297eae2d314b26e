// SPDX-License-Identifier: Apache-2.0

// With `import Keyring`, an app gets everything that it needs: properties, secrets, errors, and storages. Secrets
// and errors are in KeyringCore, which KeyringSecretService exports.
@_exported public import KeyringSecretService
