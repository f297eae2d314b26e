// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations block their thread while they wait.
///
/// An `await` runs the operation on one of at most 64 threads of the library's thread pool. Further calls
/// wait until one of these threads is free. If a storage often waits for a long time, write it as an
/// ``AsynchronousStorage``. If the task is cancelled, ``CancellationSignal/current`` tells the operation.
///
/// ```swift
/// func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
///   try validate(query, for: .read)
///   return try itemsOfFile().filter(query.matches).map { $0.selecting(query.details) }
/// }
/// ```
public protocol BlockingStorage: SynchronousStorage {}
