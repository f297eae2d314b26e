// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringMigration
public import KeyringStorage

/// A report on items that were copied to another storage.
public struct CopyReport: Sendable, Equatable {
  /// The number of items that are now in both storages.
  public fileprivate(set) var copied = 0
  /// A line for each item that isn't copied, with the reason.
  public fileprivate(set) var refusals: [String] = []
  /// A line for each item that is left, because it's another program's own.
  public fileprivate(set) var left: [String] = []
}

extension ItemCommands {
  /// Copies items to another storage.
  ///
  /// Each copy is read back and compared. Nothing is removed.
  ///
  /// - Parameters:
  ///   - selection: The items to copy.
  ///   - allPrograms: Whether that includes other programs' own items.
  ///   - destination: The storage to copy the items to.
  ///   - isReplacing: Whether to replace items of the destination.
  /// - Returns: The report.
  /// - Throws: ``ItemSelection/Unclear`` if the selection is unclear, or another error if one of the storages
  ///   doesn't work. Some items may have been copied.
  public func copy(
    _ selection: ItemSelection, allPrograms: Bool = false, to destination: any SecureStorage,
    replacing isReplacing: Bool
  ) throws -> CopyReport {
    let items = try storage.items(matching: selection.query())
      .filter { selection.hasSchema(of: $0.key) }
    let left = items.filter { $0.isForeign && !allPrograms && !selection.names($0) }
    let leftKeys = Set(left.map(\.key))
    let keys = Self.keys(of: items).filter { !leftKeys.contains($0) }
    func copied(_ keys: [ItemKey]) throws(SecureStorageError) -> Int {
      try Migration(of: keys, from: storage, to: destination, replacing: isReplacing).copy().count
    }
    var report = CopyReport()
    report.left = left.map(Self.left)
    do throws(SecureStorageError) {
      // Each migration stores an item to find out whether both storages are the same.
      report.copied = try copied(keys)
      if report.copied == keys.count { return report }
    } catch {
      if error.argument == "destination" { throw Self.sameStorage }
      if error.reasonToSkip == nil { throw error }
    }
    // One of the items can't be copied. One migration for each of them tells which.
    report.copied = 0
    for key in keys {
      do throws(SecureStorageError) {
        if try copied([key]) > 0 {
          report.copied += 1
        } else {
          report.refuse(key, "It was removed in the meantime.")
        }
      } catch {
        if error.argument == "destination" { throw Self.sameStorage }
        guard let reason = error.reasonToSkip else { throw error }
        report.refuse(key, reason)
      }
    }
    return report
  }

  static let sameStorage = ToolFailure(
    "The items are already in that storage.", recoverySuggestion: "Choose two different storages.")
}

extension CopyReport {
  fileprivate mutating func refuse(_ key: ItemKey, _ reason: String) {
    refusals.append("not copied: \(key.description.printable): \(reason.printable)")
  }
}

extension SecureStorageError {
  /// The reason not to copy one item, or `nil` if the others can't be copied either.
  fileprivate var reasonToSkip: String? {
    switch code {
    case .itemAlreadyExists:
      "The destination has another value. To replace it, use --replace."
    // Arguments of the destination
    case .invalidArgument
    where ["passphrase", "namespace", "endpoints", "tls"].contains(argument): nil
    case .ambiguous, .invalidArgument, .undecodable: message
    default: nil
    }
  }
}
