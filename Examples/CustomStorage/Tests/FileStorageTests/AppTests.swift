// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringTesting
import Testing

/// Tests of an app, each of which has its own file.
@Suite(.secureStorage(TemporaryStorage())) @MainActor struct AppTests {
  private let model = AccountModel()

  @Test func `a login is kept`() async {
    await model.logIn("ada", "pa55")
    #expect(model.login == "ada")
    #expect(AccountModel().login == "ada")
  }

  @Test func `logging out forgets the account`() async {
    await model.logIn("ada", "pa55")
    model.logOut()
    #expect(AccountModel().login == nil)
  }

  @Test func `a failed login is shown`() async {
    let storage = FaultyStorage(TemporaryStorage())
    storage.fail(.save, with: .locked)
    await withSecureStorage(storage) {
      await model.logIn("ada", "pa55")
      #expect(model.message == "The keyring is locked.")
      #expect(model.login == nil)
    }
    #expect(storage.calls.map(\.operation) == [.save, .read])
  }

  @Test func `the session of an actor is kept`() async {
    await SessionActor().start(token: "s3cret")
    #expect(await SessionActor().isRunning)
  }
}
