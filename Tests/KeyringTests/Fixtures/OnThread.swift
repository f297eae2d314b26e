// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Runs a closure on a thread of its own, and suspends the task until it ends.
func onThread<Value: Sendable>(
  _ body: @escaping @Sendable () throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    // Dispatch gives each serial queue its own thread.
    DispatchQueue(label: "onThread").async { continuation.resume(with: Result { try body() }) }
  }
}

/// Runs a closure whose calls are the blocking ones, also in asynchronous code.
@discardableResult func blocking<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }
