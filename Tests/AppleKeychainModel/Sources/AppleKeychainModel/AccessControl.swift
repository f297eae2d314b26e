// SPDX-License-Identifier: Apache-2.0

/// A level and the conditions to read the secret, from `SecAccessControlCreateWithFlags`.
struct AccessControl: Equatable {
  let level: String
  let flags: Int64

  /// Levels that exist.
  ///
  /// SecAccessControl.m (SecAccessControlSetProtection).
  static let levels = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]

  /// Checks the combination.
  ///
  /// SecAccessControl.m (SecAccessControlCreateWithFlags): one logical operation, one biometric
  /// condition, and user presence only beside a password or a key's use.
  init?(level: Value, flags: Int64) {
    let (presence, biometry): (Int64, Int64) = (1 << 0, 1 << 1 | 1 << 3)
    let logic: Int64 = 1 << 14 | 1 << 15
    guard let level = level.string, Self.levels.contains(level),
      flags & logic != logic, flags & biometry != biometry,
      flags & presence == 0 || flags & ~(presence | 1 << 30 | 1 << 31) == 0
    else { return nil }
    self.level = level
    self.flags = flags
  }

  /// Reads what the model's function made; anything else is not an access control.
  init?(_ value: Value) {
    guard case .list(let parts) = value, parts.count == 2, case .number(let flags) = parts[1] else {
      return nil
    }
    self.init(level: parts[0], flags: flags)
  }

  var value: Value { .list([.text(Array(level.utf8)), .number(flags)]) }

  /// Indicates that reading the secret asks the user: any constraint does, the two that only concern keys
  /// and encryption don't.
  var asks: Bool { flags & (1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5) != 0 }
}
