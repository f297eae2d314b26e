// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

/// An exit status of the program other than 0.
public enum ToolStatus: Int32, Sendable, CaseIterable {
  /// The storage stays locked, also after a wrong password of the keyring.
  case locked = 2
  /// There is no such item, collection or file.
  case notFound = 3
  /// There is such an item or collection already.
  case alreadyExists = 4
  /// The storage can't be reached.
  case unreachable = 5
  /// The storage or the user didn't answer in time.
  case timedOut = 6
  /// Access isn't allowed, or the key or the passphrase of a file or fleet isn't the right one.
  case denied = 7
  /// A secret or a file isn't as it should be.
  case damaged = 8
  /// Several items or values match.
  case ambiguous = 9
  /// The user has cancelled a question, and nothing was stored.
  case canceled = 10
  /// The arguments make no sense.
  ///
  /// ArgumentParser uses this status, which is `EX_USAGE` of
  /// [sysexits(3head)](https://man7.org/linux/man-pages/man3/sysexits.h.3head.html).
  case misused = 64
  /// Any other failure.
  case failed = 1

  /// The status for an error of a storage.
  public init(_ error: SecureStorageError) {
    self =
      switch error.code {
      case .locked, .userCanceled: .locked
      case .itemNotFound, .collectionNotFound: .notFound
      case .itemAlreadyExists, .collectionAlreadyExists: .alreadyExists
      case .noSessionBus, .noProvider, .providerFailed, .connectionLost: .unreachable
      case .timedOut: .timedOut
      case .accessDenied, .readOnly, .notEncrypted, .wrongKey, .keyNotFound: .denied
      case .damaged, .undecodable, .verificationFailed, .sourceChanged: .damaged
      case .ambiguous: .ambiguous
      default: .failed
      }
  }

  private var condition: String {
    switch self {
    case .locked: "if the storage stays locked, also after a wrong password of the keyring"
    case .notFound: "if there is no such item, collection or file"
    case .alreadyExists: "if there is such an item or collection already"
    case .unreachable: "if the storage can't be reached"
    case .timedOut: "if the storage or the user doesn't answer in time"
    case .denied: "if access is denied, or the key of a file or fleet is wrong or missing"
    case .damaged: "if a secret or a file isn't as it should be"
    case .ambiguous: "if several items or values match"
    case .canceled: "if the user cancels a question"
    case .misused: "if the arguments make no sense"
    case .failed: "if the command fails for another reason"
    }
  }

  /// A sentence that describes all statuses.
  public static var description: String {
    let parts = allCases.map { "\($0.rawValue) \($0.condition)" }
    return "The exit status is 0 if the command has done everything, "
      + parts.dropLast().joined(separator: ", ") + ", and " + (parts.last ?? "") + "."
  }
}
