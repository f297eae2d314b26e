// SPDX-License-Identifier: Apache-2.0

/// A storage that is written without `async`: a ``BlockingStorage`` or an ``ImmediateStorage``.
///
/// It gets the asynchronous form of each operation that it has.
public protocol SynchronousStorage: SecureStorage {}
