// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

/// An item of a storage, or the parts of it that you fetch or change.
///
/// A part that's `nil` wasn't fetched, or isn't changed by saving the item.
///
/// ```swift
/// try storage.save(SecureItem(key: key, secret: Secret("s3cret"), label: "Example"), mode: .add)
/// try storage.save(SecureItem(key: key, label: "Example, work"), mode: .update)  // keeps the secret
/// ```
public struct SecureItem: Sendable, Equatable {
  /// The key that uniquely identifies the item.
  public var key: ItemKey

  /// The secret of the item.
  public var secret: Secret?

  /// The name of the item that keyring managers show to the user.
  ///
  /// It's never empty, and never contains a "/", because KWallet turns these into folders. If you save a
  /// new item without a label, it gets one from its key.
  public var label: String?

  /// The searchable attributes in addition to the parts of the key.
  ///
  /// A keyring stores them unencrypted, so never put a secret in them. Saving sets the attributes that you
  /// specify, and keeps the others.
  public var attributes: [String: String]?

  /// The time at which the item was first stored, as reported by the storage.
  ///
  /// Saving ignores this property.
  public var created: Date?

  /// The time at which the item was last changed, as reported by the storage.
  ///
  /// Saving ignores this property.
  public var modified: Date?

  /// Whether the item is locked, so that its secret can't be read.
  ///
  /// Saving ignores this property.
  public var isLocked: Bool?

  /// Whether the item is another program's own.
  ///
  /// Such an item has attributes or a schema that no property has by itself. Only a key with exactly these finds it.
  /// The items that this package shares with other programs, such as passwords of python keyring, don't count.
  ///
  /// Saving ignores this property.
  public var isForeign = false

  /// Whether another program has stored the item, and several keys may mean it.
  package var isShared = false

  /// Whether the keyring keeps further secrets in the item, which a copy wouldn't have.
  package var hasFurtherSecrets = false

  /// Creates an item.
  ///
  /// - Parameters:
  ///   - key: The key that uniquely identifies the item.
  ///   - secret: The secret of the item.
  ///   - label: The name of the item that keyring managers show.
  ///   - attributes: The searchable attributes in addition to the parts of the key. They're stored
  ///     unencrypted.
  ///   - created: The time at which the item was first stored.
  ///   - modified: The time at which the item was last changed.
  ///   - isLocked: `true` if the item is locked.
  public init(
    key: ItemKey,
    secret: Secret? = nil,
    label: String? = nil,
    attributes: [String: String]? = nil,
    created: Date? = nil,
    modified: Date? = nil,
    isLocked: Bool? = nil
  ) {
    self.key = key
    self.secret = secret
    self.label = label
    self.attributes = attributes
    self.created = created
    self.modified = modified
    self.isLocked = isLocked
  }

  /// The owner's description of the item, stored unencrypted in the attribute "comment".
  ///
  /// If you set it to `nil`, the comment becomes empty.
  public var comment: String? {
    get { attributes?[AttributeName.comment] }
    set { attributes = (attributes ?? [:]).merging([AttributeName.comment: newValue ?? ""]) { $1 } }
  }

  /// The time at which the secret expires, which its storage doesn't enforce.
  ///
  /// It's unencrypted in the attribute "expires", such as `2026-12-31T23:59:59Z`. Saving another secret
  /// keeps it, unless you set it.
  public var expires: Date? {
    get {
      // Another program's attribute of this name may have any text.
      attributes?[AttributeName.expires].flatMap {
        $0.isEmpty ? nil : try? Date($0, strategy: .iso8601)
      }
    }
    set {
      let time = newValue?.ISO8601Format() ?? ""
      attributes = (attributes ?? [:]).merging([AttributeName.expires: time]) { $1 }
    }
  }
}

extension SecureItem {
  /// Returns `true` if this item and one that was found under another key are the same item of another program.
  ///
  /// If it were removed under one of the keys, it would be removed under both.
  package func isSame(as other: SecureItem) -> Bool {
    isShared && other.isShared && key.mayShareItem(with: other.key)
  }
}

extension ItemKey {
  /// The label of a new item that's saved without one.
  ///
  /// It consists of the service and the other parts of the key.
  ///
  /// ```swift
  /// item.label = item.label ?? item.key.defaultLabel  // "org.example.app: me"
  /// ```
  public var defaultLabel: String {
    let service = attributes[AttributeName.service]
    let others = attributes.filter { $0.key != AttributeName.service }
      .sorted { $0.key < $1.key }.map(\.value)
    let label = ([service].compactMap(\.self) + others).joined(separator: ": ")
    return label.replacingScalars(by: "-") { $0 == "/" }
  }
}
