// SPDX-License-Identifier: Apache-2.0

// The declarations of this module need secrets and errors.
@_exported public import KeyringCore
