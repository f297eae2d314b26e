import Keyring
import KeyringTesting
import Testing

/// Tests of an app, each of which has its own file.
@Suite(.secureStorage(TemporaryStorage())) @MainActor struct AppTests {
  private let model = AccountModel()

  @Test func logInIsKept() async {
    await model.logIn("ada", "pa55")
    #expect(model.login == "ada")
    #expect(AccountModel().login == "ada")
  }

  @Test func logOutForgetsTheAccount() async {
    await model.logIn("ada", "pa55")
    model.logOut()
    #expect(AccountModel().login == nil)
  }

  @Test func failedLogInIsShown() async {
    let storage = FaultyStorage(TemporaryStorage())
    storage.fail(.save, with: .locked)
    await withSecureStorage(storage) {
      await model.logIn("ada", "pa55")
      #expect(model.message == "The keyring is locked.")
      #expect(model.login == nil)
    }
    #expect(storage.calls.map(\.operation) == [.save, .read])
  }

  @Test func sessionOfAnActorIsKept() async {
    await SessionActor().start(token: "s3cret")
    #expect(await SessionActor().isRunning)
  }
}
