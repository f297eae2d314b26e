// SPDX-License-Identifier: Apache-2.0

import Contending
import Dispatch
import Keyring
import KeyringStorage
import Synchronization

/// Awaits reads that are requested all at once, or one after another.
struct AwaitedReads: Work {
  enum Order {
    case atOnce
    /// All at once, and all of the same password.
    case atOnceEqual
    case inTurn
  }

  let count: Int
  let order: Order
  private let storage = Sample.storage()
  private var found: [String?] = []

  init(count: Int, order: Order) { (self.count, self.order) = (count, order) }

  mutating func perform() throws {
    found = try finished { [storage, count, order] in
      let numbers = (0..<count).map { order == .atOnceEqual ? 0 : $0 }
      if order == .inTurn {
        var found: [String?] = []
        for number in numbers { found.append(try await storage.password(for: Sample.key(number))) }
        return found
      }
      let reads = numbers.map { number in
        Task { try await storage.password(for: Sample.key(number)) }
      }
      var found: [String?] = []
      for read in reads { found.append(try await read.value) }
      return found
    }
  }

  func check() throws {
    guard order == .atOnceEqual else { return try Sample.check(found, count: count) }
    guard found == Array(repeating: Sample.password(0), count: count) else {
      throw Failure("another password was read")
    }
  }
}

/// Runs an asynchronous closure, and waits for its result.
func finished<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let outcome = Outcome<Value>()
  let end = DispatchSemaphore(value: 0)
  Task {
    do {
      let value = try await body()
      outcome.state.withLock { $0 = .success(value) }
    } catch {
      outcome.state.withLock { $0 = .failure(error) }
    }
    end.signal()
  }
  end.wait()
  guard let value = outcome.state.withLock({ $0 }) else { throw Failure("it didn't end") }
  return try value.get()
}

private final class Outcome<Value: Sendable>: Sendable {
  let state = Mutex<Result<Value, any Error>?>(nil)
}
