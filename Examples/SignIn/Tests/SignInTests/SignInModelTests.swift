// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import Observation
import SignInModel
import Testing

/// Tests of the model without a window and without a keyring.
@Suite struct SignInModelTests {
  private let model = SignInModel()

  @Test(.secureStorage()) func `an account and a token are shown until the person signs out`() async
  {
    await model.signIn(login: "ada", password: "pa55")
    await model.save(token: "t0ken")
    await model.refresh()
    #expect(model.keyring == .unlocked)
    #expect(model.account == Credential(login: "ada", password: "pa55"))
    #expect(model.token == "t0ken")
    await model.signOut()
    await model.refresh()
    #expect(model.account == nil && model.token == nil && model.failure == nil)
  }

  @Test(.secureStorage()) func `a locked keyring is shown without its items`() async {
    await model.signIn(login: "ada", password: "pa55")
    await model.lock()
    await model.refresh()
    #expect(model.keyring == .locked && model.account == nil && model.failure == nil)
    await model.unlock()
    await model.refresh()
    #expect(model.keyring == .unlocked && model.account?.login == "ada")
  }

  @Test(.secureStorage(), .timeLimit(.minutes(1)))
  func `a change elsewhere is told to a reader of the model`() async throws {
    await model.refresh()
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
    let account = withObservationTracking {
      model.account
    } onChange: {
      continuation.yield()
    }
    #expect(account == nil)
    // Another window or program.
    try await SecureStorageDefaults.currentStorage[
      .credentials(service: SecureStorageDefaults.service, label: "account"), as: .credential
    ].write(Credential(login: "grace", password: "pa55"))
    for await _ in changes { break }
    #expect(model.account?.login == "grace")
  }

  @Test func `a failed action shows its error until the next one`() async {
    let storage = FaultyStorage()
    await withSecureStorage(storage) {
      storage.fail(.save, with: .userCanceled)
      await model.signIn(login: "ada", password: "pa55")
      #expect(model.failure?.code == .userCanceled && !model.isBusy)
      await model.refresh()
      #expect(model.failure?.code == .userCanceled && model.account == nil)
      storage.reset()
      await model.signIn(login: "ada", password: "pa55")
      #expect(model.failure == nil)
    }
  }

  @Test func `a cancelled action shows no error`() async {
    let storage = FaultyStorage()
    await withSecureStorage(storage) {
      storage.fail(.save, with: .canceled)
      await model.signIn(login: "ada", password: "pa55")
      #expect(model.failure == nil && !model.isBusy)
    }
  }

  @Test func `values that can't be read are hidden`() async {
    let storage = FaultyStorage()
    await withSecureStorage(storage) {
      await model.signIn(login: "ada", password: "pa55")
      await model.refresh()
      #expect(model.account?.login == "ada")
      storage.fail(.read, with: .connectionLost)
      await model.refresh()
      #expect(model.account == nil)
      guard case .unavailable(let error) = model.keyring else {
        Issue.record("the keyring is \(model.keyring)")
        return
      }
      #expect(error.code == .connectionLost && model.diagnosis?.failure?.code == .connectionLost)
      storage.reset()
      await model.refresh()
      #expect(model.keyring == .unlocked && model.diagnosis == nil)
    }
  }
}
