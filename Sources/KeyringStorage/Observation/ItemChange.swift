// SPDX-License-Identifier: Apache-2.0

/// A change of an item, with the key of the item.
public enum ItemChange: Sendable, Hashable {
  /// An item was created.
  case created(ItemKey)
  /// The item has another secret, label or attribute, or was saved again unchanged.
  case replaced(ItemKey)
  /// The item was removed.
  case removed(ItemKey)

  /// The key of the item.
  public var key: ItemKey {
    switch self {
    case .created(let key), .replaced(let key), .removed(let key): key
    }
  }
}

extension ItemChange {
  /// Returns the changes of an item from an earlier one to this one as a single change.
  ///
  /// An observer may have read a new item before any notice of it, so its removal is a change.
  func since(_ first: ItemChange) -> ItemChange {
    switch (first, self) {
    case (_, .removed): self
    case (.created, _): first
    default: .replaced(key)
    }
  }
}

extension ItemChange: CustomStringConvertible {
  /// The change and the key: `replaced password (service: org.example.app, username: me)`.
  public var description: String {
    switch self {
    case .created(let key): "created \(key)"
    case .replaced(let key): "replaced \(key)"
    case .removed(let key): "removed \(key)"
    }
  }
}
