// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import KeyringStorage

/// The item that a change expects to find as it was.
///
/// The keyring can't compare and store in one step, so the change looks right before it stores.
final class Expectation {
  private let key: ItemKey
  private let old: SecureItem?
  private let details: ItemQuery.Details
  /// The request for the secret at the last known path, and its answer.
  private var request: ItemFetch?
  private var answer: Variant?
  /// Whether another item was found, which the change leaves alone.
  private(set) var isBroken = false

  init(_ key: ItemKey, _ old: SecureItem?, _ details: ItemQuery.Details) {
    (self.key, self.old, self.details) = (key, old, details)
  }

  /// Sends the request for the secret along with the search for the item.
  func request(with finder: ItemFinder) {
    // A provider that hides the items of a locked collection is asked for the lock before anything else.
    guard old?.secret != nil, finder.call.provider.listsLockedItems,
      let path = finder.knownPath(of: key)
    else { return }
    let request = ItemFetch([path], .secret, in: finder.call.session)
    self.request = request
    finder.call.companions += request.messages.map { message in
      (message, { self.answer = try? $0.get() })
    }
  }

  /// Compares an item that was found with the expected one.
  func check(_ stored: StoredItem?, _ finder: ItemFinder) async throws(SecureStorageError) {
    guard let stored, old != nil else {
      isBroken = stored != nil || old != nil
      return
    }
    var secret: Secret?
    if !details.contains(.secret) {
      // Only the attributes are compared.
    } else if let request, request.paths == [stored.path], let answer {
      secret = try await finder.contents(of: [stored.path], request, [answer]).secrets[stored.path]
    }
    if secret == nil, details.contains(.secret) {
      let request = ItemFetch([stored.path], .secret, in: finder.call.session)
      secret = try await finder.contents(of: request).secrets[stored.path]
    }
    var current = stored.item(key, secret: secret, details: details)
    if !details.contains(.metadata) { current.attributes = nil }
    isBroken = !current.hasSameContent(as: old)
    // A repeated attempt looks again.
    answer = nil
  }
}
#endif
