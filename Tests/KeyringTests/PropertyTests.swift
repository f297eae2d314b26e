// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Testing

@Suite(.secureStorage()) struct PropertyTests {
  let settings = Settings()

  @Test func `a property can be assigned through a constant`() throws {
    settings.authToken = "s3cret"
    #expect(settings.authToken == "s3cret")
    settings.authToken = "another"
    #expect(Settings().authToken == "another")

    let credential = Credential(login: "ada", password: "pa55")
    settings.account = credential
    #expect(Settings().account == credential)
    #expect(settings.$authToken.failure == nil && settings.$account.failure == nil)
  }

  @Test func `the setter removes the item when assigned nil`() throws {
    settings.authToken = "s3cret"
    settings.account = Credential(login: "ada", password: "pa55")
    #expect(try settings.$authToken.exists() && settings.$account.exists())
    settings.clear()
    #expect(settings.authToken == nil && settings.account == nil)
    #expect(try !settings.$authToken.exists() && !settings.$account.exists())
    settings.authToken = nil
    #expect(settings.$authToken.failure == nil)
  }

  @Test func `an empty password is not nil`() {
    settings.authToken = ""
    #expect(settings.authToken == "")
  }

  @Test func `the throwing methods do the same as the property`() throws {
    let token = settings.$authToken
    #expect(try token.read() == nil)
    #expect(try !token.exists())
    #expect(try !token.remove())
    try token.write("s3cret")
    #expect(try token.read() == "s3cret" && token.exists())
    #expect(settings.authToken == "s3cret")
    #expect(try token.remove())
    try token.write("again")
    try token.write(nil)
    #expect(try token.read() == nil)
  }

  @Test func `the service and the name of the property make the key`() {
    #expect(
      settings.$shared.key == .password(service: "another service", account: "shared"))
    #expect(
      settings.$account.key
        == .credentials(service: SecureStorageDefaults.service, label: "account"))
  }

  @Test func `a struct of settings is Sendable`() async {
    func use(_ settings: some Sendable) {}
    use(settings)
    let settings = settings
    await Task.detached {
      withSecureStorage(InMemoryStorage()) { settings.authToken = "s3cret" }
    }.value
    #expect(settings.authToken == nil)
  }

  @Test func `a property works in an actor and in a class`() async {
    actor Session {
      @Password("authToken") var authToken: String?
      func signIn() { authToken = "of an actor" }
    }
    final class ViewModel {
      @Password("authToken") var authToken: String?
    }
    await Session().signIn()
    #expect(ViewModel().authToken == "of an actor")
  }
}
