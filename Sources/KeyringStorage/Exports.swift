// SPDX-License-Identifier: Apache-2.0

// With `import KeyringStorage`, an author of a storage also gets secrets and errors.
@_exported public import KeyringCore
