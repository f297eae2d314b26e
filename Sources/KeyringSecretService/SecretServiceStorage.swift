// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
/// A storage in the user's keyring, which uses the freedesktop Secret Service through libsecret.
///
/// Several programs provide the Secret Service. This storage works with the one that the desktop session
/// runs. The Secret Service encrypts only secrets. It doesn't encrypt the
/// attributes that name an item, or the item's label.
///
/// Any number of threads can use any number of these storages at the same time. All storages of a process
/// share one connection to the bus. The connection is opened when it's first needed, and again after the
/// bus or the provider was restarted.
///
/// ```swift
/// let storage = SecretServiceStorage(collection: .session, interaction: .never)
/// ```
///
/// See the [Secret Service API](https://specifications.freedesktop.org/secret-service-spec/latest/).
public struct SecretServiceStorage: Sendable {
  /// The options of the storage.
  public let options: Options

  /// Creates a storage with options.
  ///
  /// Nothing is sent until you use the storage.
  ///
  /// - Parameter options: The options of the storage.
  public init(options: Options) {
    self.options = options
  }

  /// Creates a storage for a collection.
  ///
  /// Nothing is sent until you use the storage.
  ///
  /// - Parameters:
  ///   - collection: The collection that contains the items.
  ///   - interaction: The permission of the keyring to ask the user.
  public init(collection: Collection = .default, interaction: Interaction = .allowed) {
    self.init(options: Options(collection: collection, interaction: interaction))
  }
}
#endif
