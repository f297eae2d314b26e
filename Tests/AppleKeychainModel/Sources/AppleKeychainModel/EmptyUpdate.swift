// SPDX-License-Identifier: Apache-2.0

/// A possible answer of a file to a new secret without bytes.
///
/// Item.cpp (modifyContent) takes data at a null pointer for none, and one report says -50.
public enum EmptyUpdate: Sendable, CaseIterable {
  /// The secret is empty.
  case stores
  /// `errSecParam`, and nothing is changed.
  case refused
  /// Success, with the old secret.
  case keepsOld
}
