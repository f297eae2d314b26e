// SPDX-License-Identifier: Apache-2.0

// With `import Keyring`, an app gets everything that it needs: properties, secrets, errors, and storages.
@_exported public import KeyringSecretService
