// SPDX-License-Identifier: Apache-2.0

#if !EncryptedFile
public import KeyringSealing

// These declarations give a helpful message to programs that use the module without its trait.

/// Unavailable: swift-keyring was built without the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct EncryptedFileStorage {
  /// Creates a storage; unavailable without the trait.
  public init(at path: String, key: KeySource) {}
}
#endif
