// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Keyring

struct SigningSettings {
  @Password("signingKey") var key: Secret?
  @Password("signingKey.next") var next: Secret?
  @Password("signingKey.previous") var previous: Secret?
}

/// Signs tokens with one key, and accepts those of each key that the storage has.
struct TokenSigner: Sendable {
  private struct MissingKey: Error {}
  private let settings = SigningSettings()

  func token(for user: String) async throws -> String {
    guard let key = try await settings.$key.read() else { throw MissingKey() }
    let code = HMAC<SHA256>.authenticationCode(for: Data(user.utf8), using: SymmetricKey(key))
    return "\(Data(user.utf8).base64EncodedString()).\(Data(code).base64EncodedString())"
  }

  func user(of token: String) async throws -> String? {
    let parts = token.split(separator: ".").compactMap { Data(base64Encoded: String($0)) }
    guard parts.count == 2 else { return nil }
    let keys = try await SecureProperties(of: settings).readAll()  // all are of one version
    for key in [settings.$key, settings.$next, settings.$previous] {
      guard let key = try keys[key].map({ SymmetricKey($0) }) else { continue }
      if HMAC<SHA256>.isValidAuthenticationCode(parts[1], authenticating: parts[0], using: key) {
        return String(decoding: parts[0], as: UTF8.self)
      }
    }
    return nil
  }
}

extension SymmetricKey {
  init(_ secret: Secret) { self = secret.withUnsafeBytes { SymmetricKey(data: $0) } }
}
