// SPDX-License-Identifier: Apache-2.0

extension Migration {
  /// A phase of a migration.
  ///
  /// Each phase is over for all items before the next one begins.
  public enum Phase: Sendable, Hashable, CaseIterable {
    /// The items are compared with those in the destination.
    case checking
    /// The items are stored in the destination.
    case writing
    /// The items are read back from the destination and compared.
    case verifying
    /// The items are removed from the source.
    case removing
  }

  /// The progress of a migration.
  ///
  /// ```swift
  /// let migration = Migration(of: .service("org.example.app"), from: old, to: SecretServiceStorage()) { progress in
  ///   print("\(progress.phase): \(progress.completed) of \(progress.total)")
  /// }
  /// ```
  public struct Progress: Sendable, Hashable {
    /// The current phase.
    public let phase: Phase
    /// The number of items for which the phase is complete.
    public internal(set) var completed: Int
    /// The number of items, which is the same in every phase.
    public let total: Int
  }
}
