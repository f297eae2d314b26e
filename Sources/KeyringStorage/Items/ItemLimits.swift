// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// The sizes above which a storage refuses an item.
///
/// Because of these limits, nearly every storage can keep the items of any other storage. A storage with less
/// room for secrets says so with ``SecureStorage/secretByteLimit``.
public enum ItemLimits {
  /// The maximum size of a secret in bytes: 4 MiB.
  ///
  /// D-Bus limits an array to 64 MiB, and disconnects a program that sends a longer one. So this size also
  /// limits how many secrets you can request from a keyring at once.
  public static let secretBytes = 4 << 20

  /// The maximum size of an attribute, a label, or a part of a key in bytes of UTF-8: 32 KiB.
  ///
  /// KeePassXC no longer finds an item by a value of 64 KiB.
  public static let attributeBytes = 32 << 10
}
