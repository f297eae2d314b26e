// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Observers of memory and of a directory.
///
/// Other modules try the same with storages whose keyrings and writers they kill.
@Suite(.timeLimit(.minutes(Kills.count))) struct ObservationTrialTests {
  private let key = ItemKey.password(service: "service", account: "first")

  @Test func `no observer of memory goes back or misses a change`() async throws {
    let storage = InMemoryStorage()
    let trial = try ObservationTrial(of: key, on: storage)
    defer { trial.end() }
    try await trial.observe(storage, as: "memory")
    try await trial.observe(storage.cached(), as: "cache", readsAlways: true)
    for _ in 0..<5 {
      try await trial.whileWriting(to: storage) {}
      try await trial.rest()
    }
  }

  /// A cache of the storage is old, too.
  @Test(arguments: [false, true])
  func `an observer that isn't notified of a change is found`(isCache: Bool) async throws {
    let storage = DeafStorage()
    let trial = try ObservationTrial(of: key, on: storage.base)
    defer { trial.end() }
    if isCache {
      try await trial.observe(storage.cached(), as: "cache", readsAlways: true)
    } else {
      try await trial.observe(storage, as: "storage")
    }
    try await storage.setPassword("1", for: key)
    trial.wrote([1], .acknowledged)
    try await trial.rest()
    try await storage.base.setPassword("2", for: key)
    trial.wrote([2], .acknowledged)
    await withKnownIssue { try await trial.rest(within: .milliseconds(100)) }
  }

  /// The test has no sanitizer, because it mostly waits for another process.
  @Test(.tags(.kills, .unsanitized))
  func `no observer of a directory goes back or misses a change when its writer is killed`()
    async throws
  {
    let secrets = try MountedSecrets()
    try secrets.write(["first": "0"])
    let storage = CredentialsDirectoryStorage(service: "service", directory: secrets.path)
    let trial = try ObservationTrial(of: key, on: storage)
    defer { trial.end() }
    try await trial.observe(storage, as: "directory")
    try await trial.observe(storage.cached(), as: "cache", readsAlways: true)
    for number in 0..<Kills.count {
      let versions = number * 1000 + 1...number * 1000 + 1000
      try secrets.killWriter(of: versions)
      trial.wrote(versions, .unknown)
      try await trial.rest()
      // The next writer finds what the killed one has left.
      try await secrets.write(versions: versions.upperBound...versions.upperBound)
      trial.wrote([versions.upperBound], .acknowledged)
      try await trial.rest()
    }
  }
}

/// A storage that doesn't report that an item was replaced.
private struct DeafStorage: ForwardingStorage, ImmediateStorage, ObservableStorage {
  let base = InMemoryStorage()

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    base.observe(query) { event in
      if case .changed(.replaced) = event { return }
      observer(event)
    }
  }
}
#endif
