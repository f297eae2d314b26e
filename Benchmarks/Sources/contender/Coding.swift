// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

private let uses = 1_000

/// Makes a key of its attributes, and compares it with the key that had them.
struct KeyCoding: Work {
  private let key = Sample.key(0)
  private var isEqual = false

  var usesPerOperation: Int { uses }

  mutating func perform() {
    for _ in 0..<uses { isEqual = ItemKey(kind: key.kind, attributes: key.attributes) == key }
  }

  func check() throws { if !isEqual { throw Failure("the key of the attributes differs") } }
}

/// Stores a credential in memory, and reads it again, so that it becomes an item and back.
struct CredentialCoding: Work {
  @Credentials("account") private var credential: Credential?
  private let value = Credential(login: "ada", password: "the secret of ada")
  private var found: Credential?

  init() throws {
    SecureStorageDefaults.storage = InMemoryStorage()
    try $credential.write(value)
  }

  var usesPerOperation: Int { uses }

  mutating func perform() {
    for _ in 0..<uses {
      credential = value
      found = credential
    }
  }

  func check() throws { guard found == value else { throw Failure("another credential was read") } }
}
