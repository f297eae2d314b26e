// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring

/// Settings with any number of properties.
private struct PropertyList: SecurePropertyList, Sendable {
  let passwords: [Password<String?>]

  var secureProperties: [any SecureProperty] { passwords }
}

/// Reads all properties of some settings at once.
struct PropertyListRead: Work {
  private let list: PropertyList
  private var found: [String?] = []

  init(count: Int) {
    list = PropertyList(passwords: (0..<count).map { Password(Sample.account($0)) })
  }

  mutating func perform() throws {
    let values = try SecureProperties(of: list).readAll()
    found = try list.passwords.map { try values[$0] }
  }

  func check() throws { try Sample.check(found, count: list.passwords.count) }
}
