// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringEtcd
import KeyringStorage
import Synchronization

/// Reads an item from the cluster.
struct Read: Work {
  private let storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private var found: String?

  mutating func perform() async throws { found = try await storage.password(for: Sample.key(0)) }

  func check() throws {
    guard found == Sample.password(0) else { throw Failure("another password was read") }
  }
}

/// Reads many items at once.
struct ReadOfMany: Work {
  private let storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private let keys = (0..<Sample.many).map(Sample.key)
  private var found: [ItemKey: SecureItem] = [:]

  mutating func perform() async throws { found = try await storage.items(for: keys, details: .all) }

  func check() throws {
    guard found.count == Sample.many, found[keys[7]]?.secret?.text == Sample.password(7) else {
      throw Failure("other items were read")
    }
  }
}

/// Lists all items of the namespace.
struct ListOfAll: Work {
  private let storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private var found: [SecureItem] = []

  mutating func perform() async throws {
    found = []
    found = try await storage.items(matching: ItemQuery(details: .all))
  }

  func check() throws {
    guard found.first(where: { $0.key == Sample.key(7) })?.secret?.text == Sample.password(7) else {
      throw Failure("other items were read")
    }
  }
}

/// Writes an item that this process wrote before.
struct Write: Work {
  private let storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private let key = ItemKey.password(service: Sample.service, account: "written")
  private var number = 0

  mutating func perform() async throws {
    number += 1
    try await storage.setPassword(Sample.password(number), for: key)
  }

  func check() async throws {
    guard try await storage.password(for: key) == Sample.password(number) else {
      throw Failure("another password was written")
    }
  }
}

/// Writes an item that this process hasn't seen, in place of another value.
struct WriteOfUnknownItem: Work {
  private var storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private let other = Sample.storage(endpoints: [Sample.endpoints[0]])
  private var number = 0

  private var key: ItemKey { .password(service: Sample.service, account: "unknown \(number)") }

  mutating func prepare() async throws {
    number += 1
    try await other.setPassword("old", for: key)
  }

  mutating func perform() async throws {
    try await storage.setPassword(Sample.password(number), for: key)
  }

  func check() async throws {
    guard try await storage.password(for: key) == Sample.password(number),
      try await storage.remove(key)
    else { throw Failure("another password was written") }
  }
}

/// Reads an item through a cache that the cluster tells about changes.
struct CachedRead: Work {
  private let storage = Sample.storage().cached()
  private let key = Sample.key(0)
  private var found: String?

  init() async throws { _ = try await storage.password(for: key) }

  var usesPerOperation: Int { 1_000 }
  mutating func perform() throws { for _ in 0..<1_000 { found = try storage.password(for: key) } }

  func check() throws {
    guard found == Sample.password(0) else { throw Failure("another password was read") }
  }
}

/// Reads a value from a dictionary that threads share.
struct DictionaryRead: Work {
  private final class Passwords: Sendable {
    let all = Mutex([Sample.key(0): Sample.password(0)])
  }

  private let passwords = Passwords()
  private let key = Sample.key(0)
  private var found: String?

  var usesPerOperation: Int { 1_000 }
  mutating func perform() {
    for _ in 0..<1_000 { found = passwords.all.withLock { $0[key] } }
  }

  func check() throws {
    guard found == Sample.password(0) else { throw Failure("another password was read") }
  }
}
