// SPDX-License-Identifier: Apache-2.0

import Dependencies
import Keyring
import KeyringStorage

/// A client of closures, as swift-dependencies has them: `@Dependency(\.tokenClient) var tokenClient`.
struct TokenClient: Sendable {
  var token: @Sendable () async throws -> String?
  var signIn: @Sendable (_ token: String) async throws -> Void
  var signOut: @Sendable () async throws -> Void
}

extension TokenClient: DependencyKey {
  static var liveValue: TokenClient { client() }
  static var previewValue: TokenClient { testValue }
  static var testValue: TokenClient { client(in: InMemoryStorage()) }

  private static func client(in storage: (any SecureStorage)? = nil) -> TokenClient {
    let token = Password("authToken", storage: storage)
    return TokenClient(
      token: { try await token.read() }, signIn: { try await token.write($0) },
      signOut: { try await token.remove() })
  }
}

extension DependencyValues {
  var tokenClient: TokenClient {
    get { self[TokenClient.self] }
    set { self[TokenClient.self] = newValue }
  }
}
