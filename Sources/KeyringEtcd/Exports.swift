// SPDX-License-Identifier: Apache-2.0

// An app names the sources of keys wherever it creates a storage.
@_exported public import KeyringSealing
