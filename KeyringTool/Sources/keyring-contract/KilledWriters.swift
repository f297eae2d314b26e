// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import KeyringTesting
import Synchronization

/// The trial of a provider that is killed while programs write: what was acknowledged is there afterwards.
struct KilledWriters {
  private static let count = 4
  private static let rounds = 10

  private let provider: OwnProvider
  private let service = "swift-keyring-contract-\(UUID().uuidString)"

  init(_ provider: OwnProvider) { self.provider = provider }

  func verify() throws {
    var faults: [String] = []
    var stored = [Int](repeating: 0, count: Self.count)
    for _ in 0..<Self.rounds where faults.isEmpty {
      let acknowledged = writeUntilKilled(stored)
      try provider.restart(after: .kill)
      for (writer, number) in acknowledged.enumerated() {
        let found = try provider.storage.items(matching: .key(key(writer), details: .secret))
        let text = found.first?.secret?.text
        // The write that the kill has met may be there or not.
        stored[writer] = text.flatMap { Int($0) } ?? 0
        if !(number...number + 1).contains(stored[writer]) || found.count > 1 {
          faults.append(
            "write \(number) of an item was acknowledged, and after a kill there are \(found.count) items"
              + (text.map { ", the first one with write \($0)" } ?? ""))
        }
      }
    }
    try provider.storage.removeItems(matching: .service(service))
    if !faults.isEmpty { throw RuleReport.Faults(messages: faults) }
  }

  private func key(_ writer: Int) -> ItemKey {
    .password(service: service, account: "writer \(writer)")
  }

  /// Rewrites items at the same time until one of the writes kills the provider, and returns the last numbers that were
  /// acknowledged.
  private func writeUntilKilled(_ first: [Int]) -> [Int] {
    let acknowledged = Mutex(first)
    // The kill comes at any moment of the other writers.
    let rest = Atomic(Int.random(in: 1...40))
    DispatchQueue.concurrentPerform(iterations: Self.count) { writer in
      for number in (first[writer] + 1)... {
        do throws(SecureStorageError) {
          try provider.storage.setPassword("\(number)", for: key(writer))
        } catch {
          return provider.killAtOnce()
        }
        acknowledged.withLock { $0[writer] = number }
        if rest.subtract(1, ordering: .relaxed).newValue == 0 { provider.killAtOnce() }
      }
    }
    return acknowledged.withLock { $0 }
  }
}
