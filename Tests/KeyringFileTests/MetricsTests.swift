// SPDX-License-Identifier: Apache-2.0

#if Metrics && EncryptedFile && os(Linux)
import CoreMetrics
import Foundation
import Keyring
import KeyringFile
import KeyringStorage
import MetricsTestKit
import TestPrograms
import Testing

/// The metrics of a program.
@Suite struct MetricsTests {
  // A process has one factory of metrics.
  @Test func `operations, caches, turns and failures are counted`() async {
    await #expect(processExitsWith: .success) {
      let metrics = TestMetrics()
      MetricsSystem.bootstrap(metrics)
      let directory = TemporaryDirectory()
      let path = directory.path("file")
      let storage = EncryptedFileStorage(at: path, key: .keyFile(at: path + ".key"))
      let cached = storage.cached()
      let key = ItemKey.password(service: "canary", account: "canary")
      try await cached.setPassword("canary", for: key)
      for _ in 0..<3 { #expect(try await cached.password(for: key) == "canary") }
      _ = await #expect(throws: SecureStorageError.self) {
        try await storage.setPassword("canary", for: key, mode: .add)
      }
      try await storage[key].update { "\($0 ?? "") again" }

      let file = ("backend", "EncryptedFileStorage")
      let save = ("operation", "save")
      let saves = try metrics.expectTimer("keyring.operations", [save, file])
      #expect(saves.values.count == 2 && saves.values.allSatisfy { $0 > 0 })
      let failures = try metrics.expectCounter(
        "keyring.operation.failures", [save, file, ("code", "itemAlreadyExists")])
      #expect(failures.totalValue == 1)
      #expect(try metrics.expectTimer("keyring.turns", [file]).values.count == 1)
      #expect(try metrics.expectCounter("keyring.cache.misses", [file]).totalValue == 1)
      #expect(try metrics.expectCounter("keyring.cache.hits", [file]).totalValue == 2)
      // A factory may refuse a metric whose dimensions have other names than before.
      let all =
        metrics.timers.map { ($0.label, $0.dimensions) }
        + metrics.counters.map { ($0.label, $0.dimensions) }
      for (label, found) in Dictionary(grouping: all, by: \.0) {
        #expect(Set(found.map { $0.1.map(\.0) }).count == 1, "\(label)")
      }
      #expect(!"\(all)".contains("canary") && !"\(all)".contains(path))
    }
  }
}
#endif
