// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import Keyring
import KeyringStorage
import Synchronization

// Turns to change the password of the account "account".

extension SecureStorage {
  fileprivate func number(_ service: String) -> StoredValue<String> {
    self[.password(service: service, account: "account")]
  }
}

/// Counts up in threads and in as many tasks, and prints how often a closure was called.
///
/// - Parameters:
///   - storage: The storage of the number.
///   - service: The service of the number.
///   - witness: The path of a directory that exists during each closure, and at no other time.
///   - threads: The number of threads.
///   - count: The number of turns of each thread and each task.
/// - Throws: An error if two closures run at the same time.
func countUp(
  in storage: any SecureStorage, service: String, witness: String, threads: Int, count: Int
) throws {
  let calls = Atomic(0)
  @Sendable func add(to old: String?) throws -> String {
    guard mkdir(witness, 0o700) == 0 else { throw WorkerFailure("another turn hasn't ended") }
    defer { rmdir(witness) }
    calls.add(1, ordering: .relaxed)
    // The others get the processor.
    sched_yield()
    return "\((old.flatMap { Int($0) } ?? 0) + 1)"
  }
  try concurrently(2 * threads) { thread in
    let number = storage.number(service)
    for _ in 0..<count {
      if thread < threads {
        try number.update { try add(to: $0) }
      } else {
        _ = try waitForTask { try await number.update { try add(to: $0) } }
      }
    }
  }
  tell("\(calls.load(ordering: .relaxed)) calls")
}

/// Keeps a turn until a line of input, which is stored, and prints what it has found, and the outcome.
///
/// The closure blocks its thread. The end of the input makes it fail.
func keepTurn(in storage: any SecureStorage, service: String, seconds: Double) {
  do {
    try storage.number(service).update(turnTimeout: .seconds(seconds)) { old in
      tell("has \(old ?? "nothing")")
      guard let line = readLine() else { throw WorkerFailure("there is no value") }
      return line
    }
    tell("stored")
  } catch let error as SecureStorageError {
    tell("error \(error.code) \(error.message)")
  } catch {
    tell("failed")
  }
}

/// Waits for turns in many tasks at once.
///
/// The function prints a line once all of them have begun, and another one at the end.
func queue(_ count: Int, in storage: any SecureStorage, service: String) throws {
  try waitForTask {
    // The threads that any update needs are there from now on.
    try await storage.number(service + " before").update(turnTimeout: .seconds(60)) { _ in "0" }
    tell("ready")
    if readLine() == nil { return }
    let begun = Atomic(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask { @Sendable in
          if begun.add(1, ordering: .relaxed).newValue == count { tell("begun") }
          try await storage.number(service).update { "\((Int($0 ?? "") ?? 0) + 1)" }
        }
      }
      try await group.waitForAll()
    }
  }
  tell("done")
}
#endif
