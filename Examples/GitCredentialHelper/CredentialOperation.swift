import Keyring

/// What git asks its helpers to do, by the name it calls that.
enum CredentialOperation: String {
  /// Find the username and password that the description lacks.
  case get
  /// Keep a credential that a server has accepted.
  case store
  /// Forget a credential that a server has refused.
  case erase

  /// Does what git asks.
  ///
  /// - Parameters:
  ///   - description: The credential, as far as git knows it.
  ///   - storage: Where the passwords are.
  /// - Returns: What to answer; `nil` for nothing, after which git asks the next helper or the user.
  /// - Throws: What kept the storage from doing it.
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
  /// The accounts that agree with a description, the one last changed first.
  fileprivate func credentials(
    matching description: CredentialDescription
  ) throws(SecureStorageError) -> [CredentialDescription] {
    try items(matching: description).compactMap { item in
      guard let username = item.username, let secret = item.secret else { return nil }
      var description = CredentialDescription(stored: secret)
      description.username = username
      return description
    }
  }

  /// Stores a credential, if nothing of it is missing.
  ///
  /// Git does that after each success, so mostly it is stored already.
  fileprivate func store(_ description: CredentialDescription) throws(SecureStorageError) {
    guard let server = description.server, description.password != nil,
      let username = description.username, !username.isEmpty
    else { return }
    let key = ItemKey.internetPassword(server: server, account: username)
    let old = try secret(for: key).map(CredentialDescription.init(stored:))
    let new = old.map(description.keeping) ?? description
    if new.stored != old?.stored { try setSecret(new.stored, for: key) }
  }

  /// Removes every item that agrees with a description.
  ///
  /// One with another password stays: it is newer than the one that the server refused.
  fileprivate func erase(_ description: CredentialDescription) throws(SecureStorageError) {
    for item in try items(matching: description) {
      let stored = item.secret.map(CredentialDescription.init(stored:))
      if let password = description.password, password != stored?.password { continue }
      try remove(item.key)
    }
  }

  /// The items of a server, of one account if the description names it.
  ///
  /// A query also finds what has more parts: a port or a path that git did not name. The password
  /// of another port, or of one repository, is not for this server at large.
  private func items(
    matching description: CredentialDescription
  ) throws(SecureStorageError) -> [SecureItem] {
    guard let server = description.server else { return [] }
    let wanted = ItemKey.internetPassword(server: server, account: description.username)
    let query = ItemQuery(
      kind: .internetPassword, attributes: wanted.attributes, details: .secret)
    return try items(matching: query).filter {
      $0.key == .internetPassword(server: server, account: $0.username)
    }
  }
}

extension SecureItem {
  /// The account, by the name that it has as an attribute.
  fileprivate var username: String? { key.attributes["user"] }
}
