// What the samples of the README and the articles take for granted; `.ci/check-doc-samples` compiles them.

import Foundation
import Keyring

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

let settings = SecureSettings()
let storage = InMemoryStorage()
typealias MyStorage = InMemoryStorage
let myStorage: any SecureStorage = MyStorage()
let oldStorage = InMemoryStorage()
let path = "settings.json"
let key = ItemKey.password(service: "org.example.app", account: "me")

let now = Date.now
let yesterday = now - 86_400

func unlock(with bytes: UnsafeRawBufferPointer) {}
func showAlert(_ text: String) {}
