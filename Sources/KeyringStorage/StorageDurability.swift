// SPDX-License-Identifier: Apache-2.0

/// A promise of a storage: which end of its backend an acknowledged change survives.
///
/// The backend is whatever keeps the items, such as a keyring's daemon, a server, or the files of the program
/// itself. `StorageContract` in the `KeyringTesting` module tests the promise.
///
/// ```swift
/// let durability = StorageDurability.afterKill
/// ```
public enum StorageDurability: Sendable, Hashable, Comparable, CaseIterable {
  /// The items last as long as the backend runs, for example because they're in memory.
  case temporary
  /// A change survives an orderly end of the backend, in which it writes what it has acknowledged.
  case afterRestart
  /// A change also survives an end without a warning, such as a crash or a kill.
  case afterKill
}
