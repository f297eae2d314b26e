// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

/// An item of a storage, or the parts of it that you fetch or change.
///
/// A part that's `nil` was left out of a query, or stays as it is in a save.
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
  /// It's never empty, and has no "/", because KWallet makes folders of these. A new item that comes with no
  /// label gets one from its key.
  public var label: String?

  /// The searchable attributes in addition to the parts of the key.
  ///
  /// A keyring stores them unencrypted: keep secrets out of them. Saving sets the attributes that you
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

  /// Whether the keyring keeps further secrets in the item, which a copy would lack.
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
  ///   - isLocked: Whether the item is locked.
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
  /// `nil` makes the comment empty.
  public var comment: String? {
    get { attributes?[AttributeName.comment] }
    set { set(newValue ?? "", for: AttributeName.comment) }
  }

  /// The time at which the secret expires, which its storage doesn't enforce.
  ///
  /// It's unencrypted in the attribute "expires", such as `2026-12-31T23:59:59Z`. Saving another secret
  /// keeps it, unless you set it.
  ///
  /// ```swift
  /// if let expires = item.expires, expires < .now { try storage.remove(item.key) }
  /// ```
  public var expires: Date? {
    get {
      // Another program's attribute of this name may have any text.
      attributes?[AttributeName.expires].flatMap {
        $0.isEmpty ? nil : try? Date($0, strategy: .iso8601)
      }
    }
    set { set(newValue?.ISO8601Format() ?? "", for: AttributeName.expires) }
  }

  private mutating func set(_ value: String, for name: String) {
    attributes = attributes ?? [:]
    attributes?[name] = value
  }
}

extension SecureItem {
  /// Compares this item with one that was found under another key: both may be the same item of another
  /// program.
  ///
  /// A removal under one of the keys is a removal under both.
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
    let others = attributes.inOrder.filter { $0.key != AttributeName.service }.map(\.value)
    let label = ([service].compactMap(\.self) + others).joined(separator: ": ")
    return label.replacingScalars(by: "-") { $0 == "/" }
  }
}
