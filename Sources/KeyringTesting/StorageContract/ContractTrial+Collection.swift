// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The trial of collections: each has its own items.
extension ContractTrial {
  func collectionsAreApart() throws {
    guard let storage = storage as? any CollectionStorage else {
      throw violation("the case is for a CollectionStorage")
    }
    try check(storage)
  }

  private func check(_ storage: some CollectionStorage) throws {
    let label = service
    let absent = storage.collection(labeled: label)
    try expect(!storage.collections().contains { $0.label == label }, "there is such a collection")
    try expectNothing(in: absent, "an absent collection has items")
    try expect(.collectionNotFound, of: "saving to an absent collection") {
      try absent.setPassword("lost", for: password())
    }
    try expect(.collectionNotFound, of: "locking an absent collection") { try absent.lock() }
    try expect(!storage.deleteCollection(labeled: label), "an absent collection was deleted")

    let collection = try storage.createCollection(labeled: label)
    let outcome = Result { try check(storage, collection, label) }
    try expect(storage.deleteCollection(labeled: label), "a present collection was not deleted")
    try outcome.get()
    try expect(!storage.collections().contains { $0.label == label }, "a deleted one is listed")
    try expectNothing(in: collection, "the items of a deleted collection are still there")
    try expectStored("of the first", password(), "after deleting another collection")
  }

  private func check<Storage: CollectionStorage>(
    _ storage: Storage, _ collection: Storage, _ label: String
  ) throws {
    try save("of the first", password())
    try expect(!collection.exists(password()), "an item is in two collections")
    try collection.setPassword("of the second", for: password(), mode: .add)
    try expectStored("of the first", password(), "after saving in another collection")
    let copy = storage.collection(labeled: label)
    try expect(copy.password(for: password()) == "of the second", "a collection lost its item")
    let listed = try storage.collections().first { $0.label == label }
    try expect(
      listed == ItemCollection(label: label, isLocked: false, isDefault: false),
      "the collection is listed as \(listed.map { "\($0)" } ?? "nothing")")
    try expect(.collectionAlreadyExists, of: "making a collection twice") {
      try storage.createCollection(labeled: label)
    }
    try collection.removeItems(matching: .service(service))
    try expectStored("of the first", password(), "after removing all in another collection")
    try expect(.invalidArgument, of: "making a collection without a label") {
      try storage.createCollection(labeled: "")
    }
  }

  /// Expects that there are no items.
  ///
  /// Some storages can't distinguish an absent collection from a closed one. Their error is accepted too.
  private func expectNothing(in storage: some CollectionStorage, _ otherwise: String) throws {
    do {
      try expect(storage.items(matching: .service(service)).isEmpty, otherwise)
    } catch let error as SecureStorageError where error.code == .collectionNotFound {
      return
    }
  }
}
