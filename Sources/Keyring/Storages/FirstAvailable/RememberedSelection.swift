// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// A selection as it's remembered.
struct RememberedSelection: Equatable, Sendable {
  /// The name that distinguishes the storage from the others in the list, regardless of their order.
  let name: String
  /// Whether the user has selected the storage and doesn't want reports about others.
  var isForGood = false

  private static let mark = "for good"

  var text: String { name + "\n" + (isForGood ? Self.mark + "\n" : "") }

  init(name: String, isForGood: Bool = false) { (self.name, self.isForGood) = (name, isForGood) }

  /// Reads the text of a file, or returns `nil` for any other text.
  init?(_ text: String) {
    let lines = text.split(whereSeparator: \.isNewline)
    guard let name = lines.first, lines.count == 1 || lines.count == 2 && lines[1] == Self.mark
    else { return nil }
    self.init(name: String(name), isForGood: lines.count == 2)
  }
}
