// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringEtcd
import KeyringStorage

/// Reads an item from the cluster.
struct Read: Work {
  private let storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private var found: String?

  mutating func perform() throws { found = try storage.password(for: Sample.key(0)) }

  func check() throws { try Sample.check(found) }
}

/// Writes an item that this process wrote before.
struct Write: Work {
  private let storage = Sample.storage(endpoints: [Sample.endpoints[0]])
  private let key = ItemKey.password(service: Sample.service, account: "written")
  private var number = 0

  mutating func perform() throws {
    number += 1
    try storage.setPassword(Sample.password(number), for: key)
  }

  func check() throws {
    guard try storage.password(for: key) == Sample.password(number) else {
      throw Failure("another password was written")
    }
  }
}

/// Reads an item through a cache that the cluster tells about changes.
struct CachedRead: Work {
  private let storage = Sample.storage().cached()
  private let key = Sample.key(0)
  private var found: String?

  init() throws { _ = try storage.password(for: key) }

  var usesPerOperation: Int { 1_000 }
  mutating func perform() throws { for _ in 0..<1_000 { found = try storage.password(for: key) } }

  func check() throws { try Sample.check(found) }
}
