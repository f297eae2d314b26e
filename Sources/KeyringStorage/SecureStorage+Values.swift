extension SecureStorage {
  /// Reads a password.
  ///
  /// - Parameters:
  ///   - service: The app or service that the password belongs to.
  ///   - account: The account at that service.
  /// - Returns: The password, or `nil` when there is none.
  /// - Throws: `.undecodable` when it is not text, or any reason for not knowing the answer.
  public func password(service: String, account: String) throws(SecureStorageError) -> String? {
    try value(for: .password(service: service, account: account), as: .text)
  }

  /// Stores a password, or removes it.
  ///
  /// - Parameters:
  ///   - password: The password; `nil` removes the one that is stored.
  ///   - service: The app or service that the password belongs to.
  ///   - account: The account at that service.
  /// - Throws: Whatever kept the storage from doing it.
  public func setPassword(
    _ password: String?, service: String, account: String
  ) throws(SecureStorageError) {
    try setValue(password, for: .password(service: service, account: account), as: .text)
  }

  /// Reads a credential.
  ///
  /// - Parameters:
  ///   - service: The app or service that the credential belongs to.
  ///   - label: The name of the credential within that service.
  /// - Returns: The credential, or `nil` when there is none.
  /// - Throws: `.undecodable` when it is not text, or any reason for not knowing the answer.
  public func credential(service: String, label: String) throws(SecureStorageError) -> Credential? {
    try value(for: .credentials(service: service, label: label), as: .credential)
  }

  /// Stores a credential, or removes it.
  ///
  /// - Parameters:
  ///   - credential: Login and password; `nil` removes those that are stored.
  ///   - service: The app or service that the credential belongs to.
  ///   - label: The name of the credential within that service.
  /// - Throws: Whatever kept the storage from doing it.
  public func setCredential(
    _ credential: Credential?, service: String, label: String
  ) throws(SecureStorageError) {
    try setValue(credential, for: .credentials(service: service, label: label), as: .credential)
  }
}
