// SPDX-License-Identifier: Apache-2.0

// swift-huggingface 0.8.1: https://github.com/huggingface/swift-huggingface,
// Sources/HuggingFace/OAuth/HuggingFaceAuthenticationManager.swift, which is only on Apple's platforms, and
// Sources/HuggingFace/Shared/TokenProvider.swift

package import Foundation

package struct OAuthToken: Sendable, Codable {
  package let accessToken: String
  package let refreshToken: String?
  package let expiresAt: Date

  package init(accessToken: String, refreshToken: String?, expiresAt: Date) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.expiresAt = expiresAt
  }
}

package enum HuggingFaceAuthenticationManager {
  package struct TokenStorage: Sendable {
    package var store: @Sendable (OAuthToken) throws -> Void
    package var retrieve: @Sendable () throws -> OAuthToken?
    package var delete: @Sendable () throws -> Void

    package init(
      store: @escaping @Sendable (OAuthToken) throws -> Void,
      retrieve: @escaping @Sendable () throws -> OAuthToken?,
      delete: @escaping @Sendable () throws -> Void
    ) {
      self.store = store
      self.retrieve = retrieve
      self.delete = delete
    }
  }
}

package enum TokenProvider: Sendable {
  case custom(@Sendable () async throws -> String?)

  package func getToken() async throws -> String? {
    switch self {
    case .custom(let implementation): try await implementation()
    }
  }
}
