// SPDX-License-Identifier: Apache-2.0

/// The protection of stored secrets from someone who has a copy of the disk, from the least to the most.
///
/// A program can refuse to start below a level:
///
/// ```swift
/// let protection = try await storage.diagnose().protection
/// guard protection >= .keyring else { fatalError("Secrets have too little protection: \(protection)") }
/// ```
///
/// A level is what the storage can prove. It doesn't tell how good a password is, or who else knows it.
public enum StorageProtection: Sendable, Hashable, Comparable, CaseIterable {
  /// Nothing is known, which counts as less than any other level.
  case unknown
  /// The secrets are in memory, and end with it.
  case memory
  /// The secrets are in files that need no password: their key is in another file, or they aren't encrypted.
  case keyFile
  /// The secrets are in a keyring, and nothing shows whether it has a password.
  case keyring
  /// The secrets are encrypted with a password.
  case password
  /// The secrets are encrypted with a key that only the security chip of the machine (TPM 2.0) decrypts.
  case hardware
}
