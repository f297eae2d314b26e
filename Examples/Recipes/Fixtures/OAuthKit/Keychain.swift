// SPDX-License-Identifier: Apache-2.0

// OAuthKit 2.2.0: https://github.com/codefiesta/OAuthKit, Sources/OAuthKit/Keychain/Keychain+Storage.swift
//
// It's internal there, so the recipe is a file of OAuthKit itself.

package import Foundation

package class Keychain {
  package protocol Storage {
    init(account: String)
    var account: String { get }
    /// The names that ``delete(key:)`` takes.
    var keys: [String] { get }
    func set(_ data: Data, for key: String) throws -> Bool
    func get(key: String) throws -> Data?
    /// The key is one that ``accountKey(_:)`` has made.
    func delete(key: String) -> Bool
    func clear() -> Bool
    func accountKey(_ key: String) -> String
  }
}

extension Keychain.Storage {
  package func accountKey(_ key: String) -> String { "\(account).\(key).oauth-token" }
}
