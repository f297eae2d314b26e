// SPDX-License-Identifier: Apache-2.0

/// A storage whose operations block their thread while they wait.
///
/// An `await` runs the operation on one of at most 64 threads of the library's thread pool. Further calls
/// wait until one of these threads is free. If a storage often waits for a long time, write it as an
/// ``AsynchronousStorage``. If the task is cancelled, ``CancellationSignal/current`` tells the operation.
public protocol BlockingStorage: SynchronousStorage {}
