// SPDX-License-Identifier: Apache-2.0

import Keyring

// The code of an app, which doesn't mention storages. The tests in this directory test it.

struct AccountSettings: Sendable {
  @Credentials("account") var account: Credential?
  @Password("authToken") var authToken: String?
}

/// The model of a view.
@MainActor final class AccountModel {
  private let settings = AccountSettings()
  private(set) var message: String?
  var login: String? { settings.account?.login }

  func logIn(_ login: String, _ password: String) async {
    do throws(SecureStorageError) {
      try await settings.$account.write(Credential(login: login, password: password))
      message = nil
    } catch {
      message = error.message
    }
  }

  func logOut() { settings.account = nil }
}

/// An actor with properties that are isolated like any other.
actor SessionActor {
  @Password("sessionToken") var token: String?
  var isRunning: Bool { token != nil }

  func start(token: String) { self.token = token }
}
