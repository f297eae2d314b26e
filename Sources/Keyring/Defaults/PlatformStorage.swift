internal import KeyringSecretService
internal import KeyringStorage

/// The storage to use if neither a property nor the process has chosen one.
enum PlatformStorage {
  static func storage(forPropertyNamed name: String?) -> any SecureStorage {
    let user = name.map { "The property \"\($0)\"" } ?? "A storage"
    if TestProcess.isCurrent {
      return UnavailableStorage(
        message: "\(user) was used in a test process without choosing a storage.",
        recoverySuggestion: """
          Add @Test(.secureStorage(InMemoryStorage())) from KeyringTesting to the test or its suite, \
          or wrap the code in withSecureStorage(InMemoryStorage()) { … }.
          """)
    }
    #if SecretService && os(Linux)
    return ofSandbox ?? SecretServiceStorage()
    #else
    return UnavailableStorage(
      message: "\(user) was used without choosing a storage; this build has no keyring of its own.",
      recoverySuggestion: "Set SecureStorageDefaults.storage when the program starts.")
    #endif
  }
}

/// A storage that refuses every operation and explains why there is no storage.
struct UnavailableStorage: ImmediateStorage {
  var code = SecureStorageError.Code.noStorage
  let message: String
  let recoverySuggestion: String

  var backendName: String { "Keyring" }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    throw refusal(.save)
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    throw refusal(.read)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    throw refusal(.remove)
  }

  private func refusal(_ operation: SecureStorageError.Operation) -> SecureStorageError {
    SecureStorageError(
      code, operation: operation, backendName: backendName, message: message,
      recoverySuggestion: recoverySuggestion)
  }
}
