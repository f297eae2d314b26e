// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations never wait for long, such as one in memory.
///
/// An `await` runs the operation at once, on the executor of the caller.
///
/// ```swift
/// func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
///   try validate(query, for: .read)
///   return stored.withLock { $0.filter(query.matches).map { $0.selecting(query.details) } }
/// }
/// ```
public protocol ImmediateStorage: SynchronousStorage {}
