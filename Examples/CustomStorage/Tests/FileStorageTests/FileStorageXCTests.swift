// SPDX-License-Identifier: Apache-2.0

import FileStorage
import Keyring
import KeyringTesting
import XCTest

/// The same tests with XCTest.
///
/// XCTest has no traits, so each test runs in the closure of `withSecureStorage`.
final class FileStorageXCTests: XCTestCase {
  func testContract() throws {
    for rule in StorageContract.cases(for: FileStorage.self) {
      let file = TemporaryFile()
      do {
        try rule.verify(
          FileStorage(at: file.url), restart: { _ in FileStorage(at: file.url) })
      } catch {
        XCTFail("\(error)")
      }
    }
  }

  func testSettingIsStored() {
    withSecureStorage(TemporaryStorage()) {
      let settings = AccountSettings()
      settings.authToken = "s3cret"
      XCTAssertEqual(AccountSettings().authToken, "s3cret")
    }
  }

  func testLogInSurvivesAwait() async {
    await withSecureStorage(TemporaryStorage()) {
      let session = SessionActor()
      await session.start(token: "s3cret")
      let isRunning = await session.isRunning
      XCTAssertTrue(isRunning)
    }
  }

  @MainActor func testFailedLogInIsShown() async {
    let storage = FaultyStorage(TemporaryStorage())
    storage.fail(.save, with: .locked)
    await withSecureStorage(storage) {
      let model = AccountModel()
      await model.logIn("ada", "pa55")
      XCTAssertEqual(model.message, "The keyring is locked.")
      XCTAssertNil(model.login)
    }
    XCTAssertEqual(storage.count(of: .save), 1)
  }
}
