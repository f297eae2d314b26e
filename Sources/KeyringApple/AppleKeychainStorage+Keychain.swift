// SPDX-License-Identifier: Apache-2.0

extension AppleKeychainStorage {
  /// One of Apple's keychains, and the options for the items in it.
  ///
  /// ```swift
  /// let keychain = AppleKeychainStorage.Keychain.dataProtection(
  ///   accessGroup: "TEAM1234.org.example.app", accessibility: .whenUnlocked)
  /// ```
  public struct Keychain: Sendable, Hashable {
    let isFileBased: Bool
    let accessGroup: String?
    let level: Accessibility
    let accessControl: AccessControl
    let isSynchronizable: Bool
    let prompt: String?
    let interaction: Interaction

    /// The keychain that a program uses if it doesn't choose: the file-based one on macOS, and the data protection
    /// keychain elsewhere.
    ///
    /// On macOS, this one needs no entitlement, and has the items of most other libraries.
    public static var standard: Keychain {
      #if os(macOS)
      .fileBased
      #else
      .dataProtection()
      #endif
    }

    /// Returns the data protection keychain.
    ///
    /// macOS has the file-based one as well. There, the program needs an entitlement for this one: it's signed with an
    /// application identifier or an access group.
    ///
    /// - Parameters:
    ///   - accessGroup: The group of the items whose key names none. The default is the program's first
    ///     group.
    ///   - accessibility: The time in which new items can be read. The default is
    ///     ``Accessibility/afterFirstUnlockThisDeviceOnly``, so that a program in the background can read
    ///     them, or ``Accessibility/afterFirstUnlock`` for synchronizable items.
    ///   - accessControl: The confirmation that each use of a new item needs, as in
    ///     `SecAccessControlCreateWithFlags`.
    ///   - synchronizable: `true` for items that iCloud shares between the user's devices. The storage sees
    ///     only these, and otherwise only local ones.
    ///   - prompt: The reason that the user reads when the system asks for a confirmation. tvOS and watchOS
    ///     don't show it.
    ///   - interaction: The permission to ask the user. It has no effect on tvOS.
    /// - Returns: The keychain.
    public static func dataProtection(
      accessGroup: String? = nil, accessibility: Accessibility? = nil,
      accessControl: AccessControl = [], synchronizable: Bool = false, prompt: String? = nil,
      interaction: Interaction = .allowed
    ) -> Keychain {
      Keychain(
        isFileBased: false, accessGroup: accessGroup,
        level: accessibility
          ?? (synchronizable ? .afterFirstUnlock : .afterFirstUnlockThisDeviceOnly),
        accessControl: accessControl, isSynchronizable: synchronizable, prompt: prompt,
        interaction: interaction)
    }

    /// The user's keychain in a file, for programs on macOS that lack an entitlement.
    ///
    /// The system itself decides on questions to the user.
    @available(iOS, unavailable)
    @available(macCatalyst, unavailable)
    @available(tvOS, unavailable)
    @available(watchOS, unavailable)
    @available(visionOS, unavailable)
    public static var fileBased: Keychain {
      Keychain(
        isFileBased: true, accessGroup: nil, level: .whenUnlocked, accessControl: [],
        isSynchronizable: false, prompt: nil, interaction: .allowed)
    }
  }

  /// The permission of the keychain to ask the user.
  public enum Interaction: Sendable, Hashable {
    /// Permission to ask for a confirmation; the call waits for the answer.
    case allowed
    /// No permission; an operation that needs an answer from the user throws `.locked`.
    case never
  }
}
