// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// A reader of collections and items that doesn't unlock anything or prompt the user.
struct CollectionReading: ProviderClient {
  let provider: Provider
  let connection: BusConnection
  let deadline: Deadline
  /// A closure that receives each message when its answer arrives.
  ///
  /// It runs between the signals that arrive before the answer and those that arrive after it.
  var onAnswer: (MethodCall) -> Void = { _ in }
  /// A closure that is called each time that answers to many messages renew the deadline.
  var whenRenewed: () -> Void = {}

  func send(_ messages: [MethodCall]) async throws(DBusError) -> [Variant?] {
    try await connection.send(messages, to: provider.uniqueName, until: deadline) { index in
      onAnswer(messages[index])
    } onFlight: { _ in
      if messages.count > BusConnection.maxInFlight { whenRenewed() }
    }.answers(to: messages)
  }

  func unexpectedAnswer(_ text: String) -> DBusError {
    DBusError(domain: "secret", code: 0, text: "an answer \(text)")
  }

  /// Returns the path and the lock state of a collection, or `nil` for a missing one.
  func state(
    of collection: SecretServiceStorage.Collection
  ) async throws(DBusError) -> ObservedCollection.State? {
    guard let path = try await path(of: collection), let isLocked = try await lockState(of: path)
    else { return nil }
    return ObservedCollection.State(path: path, isLocked: isLocked)
  }

  /// Returns the items, locked and unlocked ones, that a query may match.
  ///
  /// - Parameters:
  ///   - collection: The collection.
  ///   - query: The query, or `nil` for all items.
  /// - Returns: The items, or `nil` for a collection that was locked in the meantime, and may hide some.
  /// - Throws: The failure of a message.
  func items(
    of collection: ObjectPath, for query: ItemQuery?
  ) async throws(DBusError) -> [ObjectPath: StoredItem]? {
    let attributes = query?.key?.attributes ?? query?.searchedAttributes ?? [:]
    let paths = itemPaths(in: try await send(searchMessage(collection, attributes)))
    let question = provider.listsLockedItems ? [] : [MethodCall.isLocked(collection)]
    let answers = try await send(paths.map { .properties(of: $0) } + question)
    for answer in answers.suffix(question.count) {
      guard let answer, try !isLocked(answer) else { return nil }
    }
    return items(at: paths, answers)
  }

  /// Returns the items that still exist at paths, without their secrets.
  func items(at paths: [ObjectPath]) async throws(DBusError) -> [ObjectPath: StoredItem] {
    items(at: paths, try await send(paths.map { .properties(of: $0) }))
  }

  private func items(
    at paths: [ObjectPath], _ answers: [Variant?]
  ) -> [ObjectPath: StoredItem] {
    var items: [ObjectPath: StoredItem] = [:]
    for (path, answer) in zip(paths, answers) {
      items[path] = answer.flatMap {
        StoredItem(path: path, answer: $0, from: provider)
      }
    }
    return items
  }
}
#endif
