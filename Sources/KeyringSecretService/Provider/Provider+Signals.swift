// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
extension Provider {
  /// A change that a provider makes without a signal, so that this package sends signals of its own.
  ///
  /// If another program makes such a change, it isn't noticed. `secret-tool` and Python's keyring make no
  /// such changes.
  enum SilentChange: String, CaseIterable {
    /// The interface of the signals, whose names are a change and a step.
    static let interface = "swift_keyring.Item"

    /// A call of `SetSecret`, for which gnome-keyring 42.1 to 51.1 sends no signal.
    case secret = "Secret"
    /// A change of `Attributes`, for which KWallet 5.103 to 6.30 sends no signal.
    case attributes = "Attributes"

    /// A step of a change, after which its program sends a signal.
    enum Step: String, CaseIterable {
      /// The change is sent next.
      case changing = "Changing"
      /// The change was made, or may have been.
      case set = "Set"
      /// The change was refused.
      case kept = "Kept"
    }

    /// Returns the name of the signal for a step.
    func signal(_ step: Step) -> String { rawValue + step.rawValue }

    /// Returns what a signal says, or `nil` for an unknown name.
    static func of(_ signal: String) -> (change: Self, step: Step)? {
      for change in allCases {
        for step in Step.allCases where change.signal(step) == signal { return (change, step) }
      }
      return nil
    }
  }

  /// The change that the provider makes without a signal.
  var silentChange: SilentChange? {
    if program == .gnomeKeyring { return .secret }
    return isKWallet ? .attributes : nil
  }

  /// Lets another program change an item without a signal.
  ///
  /// KeePassXC 2.7.4 to 2.8.0 sends a signal for every change.
  var changesSilently: Bool { program != .keepassxc }

  /// May report only a change of the lock by `ItemChanged`.
  ///
  /// gnome-keyring 42.1 and oo7's daemon send it for each item of a collection that is locked or unlocked.
  var signalsLocksAsChanges: Bool { !isKWallet && program != .keepassxc }
}
#endif
