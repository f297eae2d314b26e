// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyringStorage

/// The result of an operation, as far as every storage must agree on it.
enum ModelOutcome: Equatable {
  case saved
  /// The number of items that were found, and the items themselves with those beyond the limit.
  case found(Int, of: Set<ComparableItem>)
  case removed(Int)
  /// A contradiction of a storage with itself.
  case contradicted(by: String, String)
  case refused(SecureStorageError.Code, SecureStorageError.Operation, argument: String?)

  init(of operation: ModelOperation, on storage: some SecureStorage) {
    do throws(SecureStorageError) {
      switch operation {
      case .save(let item, let mode):
        try storage.save(item, mode: mode)
        self = .saved
      case .remove(let query): self = .removed(try storage.removeItems(matching: query))
      case .find(let query):
        let found = try storage.items(matching: query)
        var unlimited = query
        unlimited.limit = nil
        // This asks for times. Without them, items of the same second come in any order.
        unlimited.details.formUnion(.metadata)
        let all =
          query.limit == nil
          ? found
          : try storage.items(matching: unlimited).map { $0.selecting(query.details) }
        if let contradiction = Self.contradiction(found, all, query.limit ?? .max) {
          self = .contradicted(by: storage.backendName, contradiction)
        } else {
          self = .found(found.count, of: Set(all.map(ComparableItem.init)))
        }
      }
    } catch {
      self = .refused(error.code, error.operation, argument: error.argument)
    }
  }
}

// MARK: - Each storage by itself

extension ModelOutcome {
  /// Returns a contradiction in the items that were found, if there is one.
  private static func contradiction(
    _ found: [SecureItem], _ all: [SecureItem], _ limit: Int
  ) -> String? {
    if Set(all.map(\.key)).count < all.count { return "an item is there twice" }
    // Items of the same second have no order that keyrings agree on.
    let seconds = all.compactMap { $0.modified?.timeIntervalSince1970.rounded(.down) }
    if zip(seconds, seconds.dropFirst()).contains(where: { $0 < $1 }) {
      return "an older item comes before a newer one"
    }
    if found.map(\.key) != all.prefix(limit).map(\.key) { return "the limit changes the order" }
    let isModifiedBefore = all.contains { item in
      item.modified.flatMap { modified in item.created.map { modified < $0 } } ?? false
    }
    return isModifiedBefore ? "an item was modified before it was created" : nil
  }
}

extension ModelOutcome: CustomStringConvertible {
  var description: String {
    switch self {
    case .saved: "saved"
    case .found(let count, let items): "found \(count) of \(items.count)"
    case .contradicted(let storage, let text): "\(storage): \(text)"
    case .removed(let count): "removed \(count)"
    case .refused(let code, let operation, let argument):
      "refused to \(operation): \(code) \(argument ?? "")"
    }
  }

  /// Returns the items that only this outcome has.
  func items(notIn other: ModelOutcome) -> [ComparableItem] {
    guard case .found(_, let items) = self, case .found(_, let others) = other else { return [] }
    return Array(items.subtracting(others))
  }
}
