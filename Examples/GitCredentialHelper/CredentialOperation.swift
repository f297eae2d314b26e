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
      guard let username = item.username, let password = item.password else { return nil }
      return CredentialDescription(username: username, password: password)
    }
  }

  /// Stores a credential, if nothing of it is missing.
  fileprivate func store(_ description: CredentialDescription) throws(SecureStorageError) {
    guard let server = description.server, let password = description.password,
      let username = description.username, !username.isEmpty
    else { return }
    try setSecret(password, for: .internetPassword(server: server, account: username))
  }

  /// Removes every item that agrees with a description.
  ///
  /// One with another password stays: it is newer than the one that the server refused.
  fileprivate func erase(_ description: CredentialDescription) throws(SecureStorageError) {
    for item in try items(matching: description) {
      if let password = description.password, password != item.password { continue }
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

  /// The password, without the fields that git-credential-libsecret puts into lines below it.
  fileprivate var password: Secret? {
    secret?.withUnsafeBytes { bytes in
      let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let fields = ["password_expiry_utc=", "oauth_refresh_token="]
      let isTheirs = lines.dropFirst().allSatisfy { line in
        fields.contains { line.starts(with: $0.utf8) }
      }
      return isTheirs ? Secret(bytes: lines[0]) : secret
    }
  }
}
