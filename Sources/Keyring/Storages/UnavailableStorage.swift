// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A storage that refuses every operation and explains why there is no storage.
struct UnavailableStorage: ImmediateStorage {
  var code = SecureStorageError.Code.noStorage
  let message: String
  let recoverySuggestion: String

  var backendName: String { "Keyring" }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) { throw refusal(.save) }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    throw refusal(.read)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    throw refusal(.remove)
  }

  private func refusal(_ operation: SecureStorageError.Operation) -> SecureStorageError {
    error(code, during: operation, message: message, recoverySuggestion: recoverySuggestion)
  }
}
