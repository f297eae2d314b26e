// SPDX-License-Identifier: Apache-2.0

// The declarations that the samples of the README and the articles use. `.ci/check-doc-samples`
// compiles the samples.

import Foundation
import Keyring
import KeyringEtcd
import KeyringStorage

struct SecureSettings {
  @Credentials("account") var account: Credential?
  @Password("authToken") var authToken: String?
  @SecureValue("session") var session: OAuthSession?

  func clear() { (account, authToken, session) = (nil, nil, nil) }
}

struct OAuthSession: Codable, Sendable {
  var accessToken: String
  var refreshToken: String
}

/// The sign-in of the tutorial.
struct SignIn {
  let settings = SecureSettings()

  var login: String? { settings.authToken == nil ? nil : settings.account?.login }

  func signIn(_ account: Credential, token: String) throws {
    try settings.$account.write(account)
    try settings.$authToken.write(token)
  }

  func signOut() throws { try SecureProperties(of: settings).removeAll() }
}

let settings = SecureSettings()
let storage = InMemoryStorage()
typealias MyStorage = InMemoryStorage
let myStorage: any SecureStorage = MyStorage()
let oldStorage = InMemoryStorage()
let operators = EtcdStorage(
  endpoints: ["https://etcd-1.example.org:2379"], namespace: "example",
  key: .keyFile(at: "/root/fleet.key"))
let fleet: any SecureStorage = operators
let path = "settings.json"
let key = ItemKey.password(service: "org.example.app", account: "me")

let now = Date.now
let yesterday = now - 86_400

func unlock(with bytes: UnsafeRawBufferPointer) {}
func showAlert(_ text: String) {}
