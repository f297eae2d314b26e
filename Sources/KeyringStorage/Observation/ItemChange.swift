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
  /// Returns this change and a later one of the same item as a single change, or `nil` if they cancel out.
  ///
  /// For an observer that saw neither change, an item that was created and removed again never existed.
  func followed(by later: ItemChange) -> ItemChange? {
    switch (self, later) {
    case (.created, .removed): nil
    case (.created, _): self
    case (.removed, .created), (.removed, .replaced): .replaced(key)
    case (.replaced, .created): self
    default: later
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
