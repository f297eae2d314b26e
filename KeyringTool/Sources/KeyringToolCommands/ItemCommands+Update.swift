// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import Keyring
internal import KeyringStorage

/// The outcome of an update.
public struct UpdateOutcome: Sendable {
  /// The secret that is stored then.
  public let secret: Secret
  /// The description of the item.
  public let item: String
  /// Whether this update has stored something.
  public let hasStored: Bool
}

extension ItemCommands {
  /// Replaces a secret by what a program makes of it, while others who update the item wait.
  ///
  /// - Parameters:
  ///   - selection: The item.
  ///   - time: The time before the expiry at which the secret is replaced, or `nil` to replace it in any case.
  ///   - expires: The time at which the new secret expires, or `nil` if it doesn't expire.
  ///   - timeout: The longest time to wait for the others.
  ///   - isBinary: Whether to store every byte of the output. See ``SecretText/secret(from:isBinary:)``.
  ///   - program: A closure that gets the old secret, or `nil` for a missing one, and returns the output of the
  ///     program. The old secret as output changes nothing. It's called again if another program has stored
  ///     something meanwhile.
  /// - Returns: The outcome.
  /// - Throws: The error of the closure, which stores nothing; ``ToolFailure`` if the item is missing and `time` isn't
  ///   `nil`, if it was removed meanwhile, or for an empty output; ``ItemSelection/Unclear`` if the selection is
  ///   unclear; or `SecureStorageError` if the turn or the storage can't be had.
  public func update(
    _ selection: ItemSelection, expiringWithin time: Duration? = nil, expires: ExpiryTime? = nil,
    timeout: Duration, isBinary: Bool = false,
    _ program: @Sendable (Secret?) async throws -> Secret
  ) async throws -> UpdateOutcome {
    let key = try key(of: selection, isNeeded: time != nil)
    let item = storage[key, as: DatedSecret.coding]
    var output: Secret?
    func renew(_ item: DatedSecret?) async throws -> DatedSecret {
      let (old, start) = (item?.secret, Date.now)
      var new = try await program(old)
      if new != old { new = SecretText.secret(from: new, isBinary: isBinary) }
      output = new
      if new == old, expires == nil { throw Unchanged(secret: new) }
      if new != old, new.count == 0 { throw Self.emptyOutput }
      return DatedSecret(
        secret: new, expires: expires?.date(from: start), replacesTime: item?.replacesTime == true)
    }
    func outcome(_ secret: Secret, hasStored: Bool) -> UpdateOutcome {
      UpdateOutcome(secret: secret, item: key.description.printable, hasStored: hasStored)
    }
    do {
      let stored =
        if let time {
          try await item.refresh(within: time, turnTimeout: timeout) { try await renew($0) }
        } else {
          try await item.update(turnTimeout: timeout) { try await renew($0) }
        }
      guard let stored else { throw Self.removed(hasRun: output != nil) }
      return outcome(stored.secret, hasStored: stored.secret == output)
    } catch let unchanged as Unchanged {
      return outcome(unchanged.secret, hasStored: false)
    }
  }

  /// Returns the key of the item.
  ///
  /// A missing credential would get no login.
  private func key(of selection: ItemSelection, isNeeded: Bool) throws -> ItemKey {
    let old =
      if isNeeded || selection.credential != nil {
        try withKey(of: selection) { try storage.item(for: $0, details: .metadata) }
      } else {
        try present(selection)
      }
    return try old?.key ?? selection.key()
  }

  private static let emptyOutput = ToolFailure(
    "The program has printed no secret.",
    recoverySuggestion: "Nothing was stored. To remove the item, use \"remove\".")

  private static func removed(hasRun: Bool) -> ToolFailure {
    ToolFailure(
      "Another program has removed the item.",
      recoverySuggestion: hasRun
        ? "The new secret wasn't stored. To store one, use \"set\"."
        : ToolFailure.nothingSelected.recoverySuggestion,
      status: .notFound)
  }
}

/// A secret and the time at which it expires.
private struct DatedSecret: Sendable {
  /// The coding, which leaves the time of a stored secret to the item.
  static let coding = ItemCoding<DatedSecret>(
    encode: { value, item in
      item.secret = value.secret
      // An item that never expired gets no attribute. Otherwise, the time belongs to the old secret.
      if value.replacesTime || value.expires != nil { item.expires = value.expires }
    },
    decode: { secret, attributes in
      DatedSecret(secret: secret, replacesTime: attributes["expires"]?.isEmpty == false)
    })

  let secret: Secret
  /// The time of a new secret, or `nil` if it doesn't expire.
  var expires: Date?
  /// Whether the item has a time, which doesn't belong to the next secret.
  let replacesTime: Bool
}

/// The end of an update that has nothing to store.
private struct Unchanged: Error { let secret: Secret }
