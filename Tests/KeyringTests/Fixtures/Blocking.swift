// SPDX-License-Identifier: Apache-2.0

/// Runs a closure whose calls are the blocking ones, also in asynchronous code.
@discardableResult func blocking<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }
