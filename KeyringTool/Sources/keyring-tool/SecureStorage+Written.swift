// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage

extension SecureStorage {
  /// Waits until everything that was saved survives the end of the keyring.
  ///
  /// - Returns: `false` if the keyring doesn't say when it writes.
  func waitUntilEverythingIsWritten() throws -> Bool {
    guard let keyring = self as? SecretServiceStorage else { return true }
    PromptNotice.cancel()
    // Most keyrings have written it already.
    let notice = Task.detached {
      try await Task.sleep(for: .seconds(1))
      Terminal.complain("waiting until the keyring has written everything")
    }
    defer { notice.cancel() }
    do throws(SecureStorageError) {
      try keyring.waitUntilWritten()
      return true
    } catch {
      guard error.code == .notObservable else { throw error }
      return false
    }
  }
}
