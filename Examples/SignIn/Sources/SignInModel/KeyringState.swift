// SPDX-License-Identifier: Apache-2.0

public import Keyring

/// The state of the keyring, as far as the app knows it.
public enum KeyringState: Equatable, Sendable {
  /// The keyring hasn't answered yet.
  case unknown
  case unlocked
  case locked
  /// The keyring can't be used, for example because there is none.
  case unavailable(SecureStorageError)
}
