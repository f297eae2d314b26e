/// The way of some items from one source to one destination, step by step.
struct MigrationLeg: Sendable {
  private let source: any MigrationSource
  let destination: any SecureStorage
  /// What the source has.
  private(set) var items: [SecureItem] = []
  /// What of it the destination had already.
  private var held: Set<ItemKey> = []

  init(from source: any MigrationSource, to destination: any SecureStorage) {
    (self.source, self.destination) = (source, destination)
  }

  mutating func read() throws(SecureStorageError) {
    items = try source.items()
    var keys: Set<ItemKey> = []
    for item in items {
      try destination.validate(item)
      _ = try destination.secretOfNewItem(item)
      guard keys.insert(item.key).inserted else {
        throw failure(.ambiguous, .read, "The source has several items for \(item.key).")
      }
    }
  }

  mutating func check(_ done: () -> Void) throws(SecureStorageError) {
    for batch in items.batches {
      let found = try destination.items(for: batch.map(\.key), details: .all)
      for item in batch {
        if let other = found[item.key] {
          guard other.hasValue(of: item) else { throw alreadyExists(item.key) }
          held.insert(item.key)
        }
        done()
      }
    }
    // A storage that lacks what the source has is another one. Where it lacks nothing, an earlier
    // run may have written it; but if they are the same, removing from one is removing from both.
    if let storage = source.storage, !items.isEmpty, held.count == items.count,
      try StorageProbe(destination).isFound(in: storage)
    {
      throw SecureStorageError(
        .invalidArgument, operation: .migrate, backend: destination.backendName,
        message: "The source and the destination are the same storage.", argument: "destination")
    }
  }

  func write(_ done: () -> Void) throws(SecureStorageError) {
    for item in items {
      if !held.contains(item.key) { try add(item) }
      done()
    }
  }

  func verify(_ done: () -> Void) throws(SecureStorageError) {
    for batch in items.batches {
      let found = try destination.items(for: batch.map(\.key), details: .all)
      for item in batch {
        guard let other = found[item.key], other.hasValue(of: item),
          held.contains(item.key) || other.hasLabel(of: item)
        else {
          throw failure(
            .verificationFailed, .read, "What was written for \(item.key) does not read back.")
        }
        done()
      }
    }
  }

  func remove(_ done: () -> Void) throws(SecureStorageError) {
    if !items.isEmpty { try source.remove(items, done) }
  }

  private func add(_ item: SecureItem) throws(SecureStorageError) {
    do throws(SecureStorageError) {
      try destination.save(item, .add)
    } catch {
      // Somebody else has been faster; the storage does not say with which item.
      throw error.code == .itemAlreadyExists ? alreadyExists(item.key) : error
    }
  }

  private func alreadyExists(_ key: ItemKey) -> SecureStorageError {
    failure(.itemAlreadyExists, .save, "The destination has another value for \(key).")
  }

  private func failure(
    _ code: SecureStorageError.Code, _ operation: SecureStorageError.Operation, _ message: String
  ) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backend: destination.backendName, message: message,
      advice: code == .itemAlreadyExists
        ? "Decide which of the two is right, remove the other, and run the migration again." : nil)
  }
}

extension SecureItem {
  /// Whether nothing of the value of another item is missing or different: the label aside, which
  /// the user may change.
  fileprivate func hasValue(of other: SecureItem) -> Bool {
    secret == other.secret && (other.attributes ?? [:]).isContained(in: attributes ?? [:])
  }

  fileprivate func hasLabel(of other: SecureItem) -> Bool {
    guard let expected = other.label else { return true }
    return label?.isExactly(expected) == true
  }
}

extension [SecureItem] {
  /// As many at a time as fit in a message, however large their secrets are.
  var batches: [ArraySlice<SecureItem>] {
    let size = (32 << 20) / ItemLimits.secretBytes
    return stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
