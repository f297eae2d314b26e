// SPDX-License-Identifier: Apache-2.0

public import CoreFoundation

/// The switches for all that can go wrong.
///
/// An entitlement is missing when a ``Caller`` has no groups.
public struct Faults: Sendable {
  /// The device is locked: items of the levels WhenUnlocked can't be decrypted.
  public var isLocked = false
  /// Nobody unlocked the device since it started: only items of the levels Always can be decrypted.
  public var isBeforeFirstUnlock = false
  /// Reported by apps, unresolved: before the first unlock items look absent.
  public var looksAbsentBeforeFirstUnlock = false
  /// Reported, against the published source: only reading the secret of an item with an access
  /// control asks, reading its attributes doesn't.
  public var attributesNeverAsk = false
  /// Reported, against the published source: adding over an item with an access control doesn't ask.
  public var addNeverAsks = false
  /// Unknown: an update of a file's item to an empty secret.
  public var emptyFileUpdate = EmptyUpdate.stores
  /// The device has no passcode: an item of the level that needs one can't be added.
  public var hasNoPasscode = false
  /// The device is a simulator, which leaves out access controls.
  public var isSimulator = false
  /// The system has no LocalAuthentication, so what would ask is `errSecUnimplemented`.
  public var lacksLocalAuthentication = false
  /// The file is locked: an allowed prompt unlocks it.
  public var isFileLocked = false
  /// The user's answer to every prompt.
  public var answer = PromptAnswer.allowed
  /// Every call to a keychain ends with this status: a broken service, no default keychain, or
  /// `errSecNotAvailable`, as KeychainAPITests (testCorruptionHandler) has it.
  ///
  /// A file's search says `errSecItemNotFound` for it.
  public var failure: OSStatus?
  /// Runs between a file-based update's search and its change, with no lock held.
  public var fileUpdateWindow: (@Sendable () -> Void)?

  /// No faults.
  public init() {}
}
