// SPDX-License-Identifier: Apache-2.0

#if !EncryptedFile
public import KeyringSealing
public import KeyringStorage

// These declarations give a helpful message to programs that use the module without its trait. The storage conforms, so
// that the compiler says nothing else where a storage is expected.

/// Unavailable: this build of swift-keyring lacks the trait EncryptedFile.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"EncryptedFile\"]"
)
public struct EncryptedFileStorage: ImmediateStorage, ObservableStorage {
  /// Creates a storage; needs the trait EncryptedFile.
  public init(at path: String, key: KeySource, timeout: Duration = .zero) {}
  /// Changes the key; needs the trait EncryptedFile.
  public func changeKey(to key: KeySource) throws {}
  /// Saves an item; needs the trait EncryptedFile.
  public func save(_ item: SecureItem, mode: SaveMode) {}
  /// Finds items; needs the trait EncryptedFile.
  public func items(matching query: ItemQuery) -> [SecureItem] { [] }
  /// Removes items; needs the trait EncryptedFile.
  public func removeItems(matching query: ItemQuery) -> Int { 0 }
  /// Observes items; needs the trait EncryptedFile.
  public func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription { fatalError() }
}
#endif
