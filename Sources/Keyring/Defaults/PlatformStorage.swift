// SPDX-License-Identifier: Apache-2.0

internal import KeyringSecretService
internal import KeyringStorage

/// The storage to use if neither a property nor the process has chosen one.
enum PlatformStorage {
  static func storage(forPropertyNamed name: String?) -> any SecureStorage {
    let user = name.map { "The property \"\($0)\"" } ?? "A storage"
    if TestProcess.isCurrent { return inTests(user) }
    #if SecretService && os(Linux)
    return ofSandbox ?? SecretServiceStorage()
    #else
    return UnavailableStorage(
      message: "\(user) was used without choosing a storage; this build has no keyring of its own.",
      recoverySuggestion: "Set SecureStorageDefaults.storage when the program starts.")
    #endif
  }

  /// Returns the storage in a process that runs tests, which doesn't reach the developer's own keyring.
  ///
  /// - Parameter user: The user of the storage, as the beginning of a sentence.
  /// - Returns: The storage.
  static func inTests(_ user: String) -> any SecureStorage {
    UnavailableStorage(
      message: "\(user) was used in a test process without choosing a storage.",
      recoverySuggestion: """
        Add @Test(.secureStorage(InMemoryStorage())) from KeyringTesting to the test or its suite, \
        or wrap the code in withSecureStorage(InMemoryStorage()) { … }.
        """)
  }
}
