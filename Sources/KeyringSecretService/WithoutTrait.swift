// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !SecretService
public import KeyringStorage

// These declarations give a helpful message to programs that name the keyring without its trait.

/// Unavailable: swift-keyring was built without the trait SecretService.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: add .defaults to its traits"
)
public struct SecretServiceStorage: ImmediateStorage {
  /// A collection; unavailable without the trait.
  public enum Collection {
    case `default`, session
    case named(String)
  }
  /// A permission; unavailable without the trait.
  public enum Interaction { case allowed, terminal, never }

  /// Creates a storage; unavailable without the trait.
  public init(collection: Collection = .default, interaction: Interaction = .allowed) {}
  /// Saves nothing; unavailable without the trait.
  public func save(_ item: SecureItem, mode: SaveMode) {}
  /// Finds nothing; unavailable without the trait.
  public func items(matching query: ItemQuery) -> [SecureItem] { [] }
  /// Removes nothing; unavailable without the trait.
  public func removeItems(matching query: ItemQuery) -> Int { 0 }
}
#endif
