// SPDX-License-Identifier: Apache-2.0

extension AppleKeychainStorage {
  /// The time in which an item can be read, one of Apple's values of `kSecAttrAccessible`.
  public enum Accessibility: Sendable, Hashable, CaseIterable {
    /// Access while the device is unlocked.
    case whenUnlocked
    /// Access from the first unlock after a restart on.
    case afterFirstUnlock
    /// Access while the device is unlocked, and only on this device.
    case whenUnlockedThisDeviceOnly
    /// Access from the first unlock after a restart on, and only on this device.
    case afterFirstUnlockThisDeviceOnly
    /// Access while the device is unlocked, and only as long as it has a passcode.
    case whenPasscodeSetThisDeviceOnly

    var staysOnDevice: Bool { ![.whenUnlocked, .afterFirstUnlock].contains(self) }

    var constant: KeychainConstant {
      switch self {
      case .whenUnlocked: .whenUnlocked
      case .afterFirstUnlock: .afterFirstUnlock
      case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
      case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
      case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
      }
    }
  }

  /// The confirmation that each use of an item needs, some of Apple's `SecAccessControlCreateFlags`.
  ///
  /// ```swift
  /// let control: AppleKeychainStorage.AccessControl = [.biometryAny, .or, .devicePasscode]
  /// ```
  public struct AccessControl: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt

    /// Creates a set from its bits.
    ///
    /// - Parameter rawValue: The bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The passcode, or a finger or a face that the device knows.
    public static let userPresence = AccessControl(rawValue: 1 << 0)
    /// A finger or a face that the device knows.
    public static let biometryAny = AccessControl(rawValue: 1 << 1)
    /// A finger or a face that the device has known since the item was stored.
    public static let biometryCurrentSet = AccessControl(rawValue: 1 << 3)
    /// The passcode of the device.
    public static let devicePasscode = AccessControl(rawValue: 1 << 4)
    /// Permission to choose any one of the others.
    public static let or = AccessControl(rawValue: 1 << 14)
    /// A requirement of all the others.
    public static let and = AccessControl(rawValue: 1 << 15)
  }
}
