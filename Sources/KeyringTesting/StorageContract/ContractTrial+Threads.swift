internal import Dispatch
internal import KeyringStorage
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

// Rule 9: any number of threads.
extension ContractTrial {
  func threadsLoseNothing() throws {
    let threads = 4
    let rounds = 10
    try Self.concurrently(
      (0..<threads).map { thread in
        {
          for round in 0..<rounds {
            try save("own \(thread) \(round)", password("own \(thread) \(round)"), .add)
            try save("shared", password("shared \(round)"))
          }
        }
      })
    let count = try storage.items(matching: .service(service)).count
    let expected = threads * rounds + rounds
    try expect(count == expected, "\(threads) threads left \(count) items instead of \(expected)")
    for thread in 0..<threads {
      for round in 0..<rounds {
        let key = password("own \(thread) \(round)")
        try expectStored("own \(thread) \(round)", key, "after writing from \(threads) threads")
      }
    }
    try additionHappensOnce(threads)
  }

  private func additionHappensOnce(_ threads: Int) throws {
    let successes = Atomic(0)
    let add: @Sendable () throws -> Void = {
      do throws(SecureStorageError) {
        try save("added", password("added once"), .add)
        successes.add(1, ordering: .relaxed)
      } catch {
        guard error.code == .itemAlreadyExists else { throw error }
      }
    }
    try Self.concurrently(Array(repeating: add, count: threads))
    let count = successes.load(ordering: .relaxed)
    try expect(count == 1, "of \(threads) threads adding one item \(count) succeeded")
  }

  /// Runs closures at the same time, on a thread each, and waits for all of them.
  ///
  /// Storages block, so tasks, which share the threads of the cooperative pool, will not do.
  static func concurrently(_ bodies: [@Sendable () throws -> Void]) throws {
    let group = DispatchGroup()
    let started = Atomic(0)
    let failure = Mutex<(any Error)?>(nil)
    for body in bodies {
      // A serial queue of its own is what Dispatch gives a thread of its own.
      DispatchQueue(label: "StorageContract").async(group: group) {
        started.add(1, ordering: .acquiringAndReleasing)
        while started.load(ordering: .acquiring) < bodies.count { _ = sched_yield() }
        do {
          try body()
        } catch {
          failure.withLock { $0 = $0 ?? error }
        }
      }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }
}
