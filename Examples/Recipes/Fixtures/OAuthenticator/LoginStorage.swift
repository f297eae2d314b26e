// SPDX-License-Identifier: Apache-2.0

// OAuthenticator 0.7.2: https://github.com/ChimeHQ/OAuthenticator, Sources/OAuthenticator/Models.swift

package import Foundation

package struct Token: Codable, Hashable, Sendable {
  package let value: String
  package let expiry: Date?

  package init(value: String, expiry: Date? = nil) {
    self.value = value
    self.expiry = expiry
  }
}

package struct Login: Codable, Hashable, Sendable {
  package var accessToken: Token
  package var refreshToken: Token?

  package init(accessToken: Token, refreshToken: Token? = nil) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
  }
}

package struct LoginStorage: Sendable {
  package typealias RetrieveLogin = @Sendable () async throws -> Login?
  package typealias StoreLogin = @Sendable (Login) async throws -> Void

  package let retrieveLogin: RetrieveLogin
  package let storeLogin: StoreLogin

  package init(
    retrieveLogin: @escaping RetrieveLogin, storeLogin: @escaping StoreLogin
  ) {
    self.retrieveLogin = retrieveLogin
    self.storeLogin = storeLogin
  }
}
