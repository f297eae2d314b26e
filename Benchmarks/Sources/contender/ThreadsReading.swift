// SPDX-License-Identifier: Apache-2.0

import Contending
import Dispatch
import Keyring
import KeyringStorage
import Synchronization

/// Reads in several threads at the same time.
///
/// Each thread reads its own password.
struct ThreadsReading: Work {
  let threads: Int
  private let readsPerThread = 25
  private let storage = Sample.storage()
  private let failure = FirstFailure()

  init(threads: Int) { self.threads = threads }

  var usesPerOperation: Int { threads * readsPerThread }

  func perform() {
    let group = DispatchGroup()
    for number in 0..<threads {
      // Dispatch gives each serial queue its own thread.
      DispatchQueue(label: "contender").async(group: group) {
        do { try read(number) } catch { failure.report(error) }
      }
    }
    group.wait()
  }

  func check() throws {
    if let error = failure.error { throw error }
  }

  private func read(_ number: Int) throws {
    let (key, password) = (Sample.key(number), Sample.password(number))
    for _ in 0..<readsPerThread {
      guard try storage.password(for: key) == password else {
        throw Failure("another password was read")
      }
    }
  }
}

private final class FirstFailure: Sendable {
  private let state = Mutex<(any Error)?>(nil)

  var error: (any Error)? { state.withLock { $0 } }
  func report(_ error: any Error) { state.withLock { $0 = $0 ?? error } }
}
