// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring
import KeyringStorage

/// Reads all items of the service and their metadata with one query.
struct Query: Work {
  let count: Int
  private let storage = Sample.storage()
  private var items: [SecureItem] = []

  init(count: Int) { self.count = count }

  mutating func perform() throws {
    items = try storage.items(matching: .service(Sample.service, details: .all))
  }

  func check() throws {
    guard items.count == count, items.allSatisfy({ $0.label?.isEmpty == false }) else {
      throw Failure("\(items.count) items instead of \(count) with labels")
    }
    let secrets = Dictionary(items.map { ($0.key, $0.secret?.text) }) { $1 }
    try Sample.check((0..<count).map { secrets[Sample.key($0)] ?? nil }, count: count)
  }
}
