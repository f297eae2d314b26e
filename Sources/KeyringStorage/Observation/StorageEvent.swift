/// What an ``ObservableStorage`` tells those who observe it.
public enum StorageEvent: Sendable, Hashable {
  /// An item was created, replaced or removed.
  case changed(ItemChange)

  /// What was read before may not be so any more: of the item with this key, or of any.
  ///
  /// If something has changed, it is named as soon as it is known what.
  case mayHaveChanged(ItemKey?)

  /// The storage was locked.
  case locked

  /// The connection to the items was lost: changes go unnoticed until ``resumed``.
  case interrupted

  /// The connection is there again, and what has changed meanwhile was reported.
  case resumed
}

/// What happened to an item, and to which.
public enum ItemChange: Sendable, Hashable {
  /// There is an item where there was none.
  case created(ItemKey)
  /// The item has another secret, label or attribute, or was saved again as it was.
  case replaced(ItemKey)
  /// The item is gone.
  case removed(ItemKey)

  /// The key of the item.
  public var key: ItemKey {
    switch self {
    case .created(let key), .replaced(let key), .removed(let key): key
    }
  }
}

extension ItemChange {
  /// The change from before this one to after a later one of the same item; `nil` for none.
  ///
  /// An item that was created and removed again was, for who has seen neither, never there.
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
  /// What happened and the key: `replaced password (service: org.example.app, username: me)`.
  public var description: String {
    switch self {
    case .created(let key): "created \(key)"
    case .replaced(let key): "replaced \(key)"
    case .removed(let key): "removed \(key)"
    }
  }
}
