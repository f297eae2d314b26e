// SPDX-License-Identifier: Apache-2.0

// With `import KeyringSecretService`, a program also gets secrets and errors.
@_exported public import KeyringCore
