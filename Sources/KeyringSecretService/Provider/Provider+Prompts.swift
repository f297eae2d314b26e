// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
extension Provider {
  /// Ends every prompt that it shows with the signal `Completed`.
  ///
  /// If a password is wrong, oo7's daemon ends a prompt in a terminal without the signal.
  var completesPrompts: Bool { isKnown }

  /// Unlocks a collection without a prompt where it can, and otherwise shows nothing yet.
  ///
  /// gnome-keyring 42.1, 48.0 and 51.1 unlock a collection without a password, and one whose password is in
  /// the login collection. Otherwise they prepare a prompt, which takes 2 kB until the connection ends. KWallet
  /// 5.103 and KeePassXC 2.7.4 always prepare a prompt, and show it only when they're told to.
  var unlocksWithoutPrompt: Bool { program == .gnomeKeyring }

  /// Requires a prompt for each new item.
  ///
  /// KeePassXC 2.7.4 always answers with one. If there is nothing to ask, it ends the prompt by itself.
  var createsItemsByPrompt: Bool { program == .keepassxc }

  /// The bus name of the program that shows the provider's prompts, or `nil` for the provider itself.
  ///
  /// gnome-keyring 42.1 dismisses its prompts itself if that program is missing or has died.
  var prompter: String? {
    program == .gnomeKeyring ? "org.gnome.keyring.SystemPrompter" : nil
  }

  /// The recovery suggestion if the keyring is allowed to ask, but no program shows its prompts.
  static let withoutPrompter = "Unlock it" + withoutWindow

  /// The recovery suggestion if no program shows the keyring's prompts, and there is nothing to unlock.
  static let withoutPrompterOrDefault = "Create one" + withoutWindow

  /// The ways to unlock or create a collection without a window.
  ///
  /// gcr shows the prompts of gnome-keyring 42.1. KWallet 5.103 and KeePassXC 2.7.4 show their own.
  private static let withoutWindow = """
     with keyring-tool unlock at a terminal, with keyring-tool unlock --password-stdin elsewhere, or by logging out \
    and in again. On a desktop, install gcr, which shows the keyring's prompts.
    """
}

// MARK: - Passwords

extension Provider {
  /// The interface with methods that take the password of a collection from a program.
  ///
  /// gnome-keyring 42.1 to 51.1 has it for its own tools, and oo7's daemon for these, too. KWallet 5.103 to 6.30 and
  /// KeePassXC 2.7.4 to 2.8.0 have none.
  static let passwordInterface = "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface"

  /// The D-Bus name of the error for a wrong password, or `nil` where every error may mean one.
  ///
  /// gnome-keyring 42.1 to 51.1 has such an error. oo7's daemon has one for all failures, according to its source.
  var errorOfWrongPassword: String? { isKnown ? "org.gnome.keyring.Error.Denied" : nil }

  /// The message if the provider takes no password from a program.
  var messageWithoutPasswords: String {
    isKnown
      ? "\(keyringName) takes no password from other programs, and asks only in its own window."
      : "The keyring takes no password from other programs."
  }

  /// The recovery suggestion that goes with ``messageWithoutPasswords``.
  static let suggestionWithoutPasswords = """
    Unlock it at the screen, or use an encrypted file in remote shells and containers.
    """
}
#endif
