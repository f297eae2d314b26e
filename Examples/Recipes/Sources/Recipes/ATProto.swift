// SPDX-License-Identifier: Apache-2.0

import ATProtoKit
import Foundation
import KeyringStorage

/// The credentials of ATProtoKit, in a storage that it's given.
struct KeyringCredentialStore: ATCredentialStore {
  let service: String
  let storage: any SecureStorage

  func loadValue(forKey key: String) async throws -> Data? {
    try await storage.data(for: .value(service: service, account: key))
  }

  func saveValue(_ value: Data, forKey key: String) async throws {
    try await storage.setData(value, for: .value(service: service, account: key))
  }

  func deleteValue(forKey key: String) async throws {
    try await storage.remove(.value(service: service, account: key))
  }
}
