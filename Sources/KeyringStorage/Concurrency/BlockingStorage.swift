// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations block their thread while they wait.
///
/// An `await` runs the operation on one of at most 64 threads of the library's thread pool, for which further
/// calls wait. Write a storage that often waits for long as an ``AsynchronousStorage``.
/// ``CancellationSignal/current`` tells the operation of a cancelled task.
///
/// ```swift
/// func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
///   try validate(query, for: .read)
///   return try itemsOfFile().filter(query.matches).map { $0.selecting(query.details) }
/// }
/// ```
public protocol BlockingStorage: SynchronousStorage {}
