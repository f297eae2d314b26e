// SPDX-License-Identifier: Apache-2.0

// ATProtoKit 0.34.0: https://github.com/MasterJ93/ATProtoKit, ATCredentialStore.swift

package import Foundation

package protocol ATCredentialStore: Sendable {
  func loadValue(forKey key: String) async throws -> Data?
  func saveValue(_ value: Data, forKey key: String) async throws
  func deleteValue(forKey key: String) async throws
}
