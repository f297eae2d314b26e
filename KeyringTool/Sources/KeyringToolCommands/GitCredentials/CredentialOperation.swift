// SPDX-License-Identifier: Apache-2.0

package import Keyring
package import KeyringStorage

/// An operation that git asks its helpers to perform, with git's name for it.
package enum CredentialOperation: String {
  /// Finds the username and password that the description lacks.
  case get
  /// Stores a credential that a server has accepted.
  case store
  /// Removes a credential that a server has refused.
  case erase

  /// Performs the operation.
  ///
  /// - Parameters:
  ///   - input: The description of the credential.
  ///   - storage: The storage of the passwords.
  /// - Returns: The lines of the reply, which is empty for none.
  /// - Throws: `HelperFailure` if the description is malformed, or the storage can't perform the operation.
  package func reply(
    to input: Secret, in storage: any SecureStorage
  ) throws(HelperFailure) -> Secret {
    try run(CredentialDescription(input), in: storage)?.lines() ?? Secret("")
  }

  /// Performs the operation.
  ///
  /// - Parameters:
  ///   - description: The parts of the credential that git knows.
  ///   - storage: The storage of the passwords.
  /// - Returns: The reply, or `nil` for none. Without a reply, git asks the next helper or the user.
  /// - Throws: `HelperFailure` if the storage can't perform the operation.
  func run(
    _ description: CredentialDescription, in storage: any SecureStorage
  ) throws(HelperFailure) -> CredentialDescription? {
    do throws(SecureStorageError) {
      switch self {
      case .get: return try storage.credentials(matching: description).first
      case .store: try storage.store(description)
      case .erase: try storage.erase(description)
      }
      return nil
    } catch {
      throw .storage(error)
    }
  }
}

extension SecureStorage {
  /// Returns the stored credentials that match a description, most recently changed first.
  fileprivate func credentials(
    matching description: CredentialDescription
  ) throws(SecureStorageError) -> [CredentialDescription] {
    try items(matching: description).compactMap { CredentialDescription($0) }
  }

  /// Stores a credential if it's complete.
  ///
  /// Git calls this after each success, so the credential is usually stored already.
  fileprivate func store(_ description: CredentialDescription) throws(SecureStorageError) {
    guard let key = description.key else { return }
    // Without a user, a description matches the items of all users.
    let old = try items(matching: description).filter { item in
      item.key.kind == key.kind
        && ["authtype", "user"].allSatisfy {
          item.key.attributes[$0] ?? "" == key.attributes[$0] ?? ""
        }
    }
    let known = old.map { (key: $0.key, description: CredentialDescription($0)) }
    let new = known.first?.description.map(description.keeping) ?? description
    if known.isEmpty { try self[key, as: .secret].write(new.stored) }
    // Earlier versions, "set" and other helpers store items without the schema. None of them may become stale.
    for (key, description) in known where description?.stored != new.stored {
      try self[key, as: .secret].write(new.stored)
    }
  }

  /// Removes every item that matches a description.
  ///
  /// An item with another password is kept, because it's newer than the one that the server refused.
  fileprivate func erase(_ description: CredentialDescription) throws(SecureStorageError) {
    for item in try items(matching: description) {
      let stored = CredentialDescription(item)
      if let password = description.password, password != stored?.password { continue }
      if let credential = description.credential, credential != stored?.credential { continue }
      try remove(item.key)
    }
  }

  /// Returns the items of a server, limited to one account if the description names it.
  ///
  /// A query also finds items with more parts, such as a port or a path that git didn't name. The password
  /// of another port or of one repository isn't meant for the server as a whole.
  private func items(
    matching description: CredentialDescription
  ) throws(SecureStorageError) -> [SecureItem] {
    guard var attributes = description.place else { return [] }
    attributes["user"] = description.username
    let kinds: [ItemKind] =
      description.allowsTypes ? [.internetPassword, .gitCredential] : [.internetPassword]
    var query = ItemQuery(
      kind: kinds.count == 1 ? kinds[0] : nil, attributes: attributes, details: .secret)
    query.leavesForeignItems = true
    return try items(matching: query).filter {
      kinds.contains($0.key.kind) && description.isFor($0.key)
    }
  }
}
