// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The content of a file, and its parts by their paths.
struct PlaintextContent {
  private let text: Secret
  private let parts: [PlaintextPart]
  /// The parts by the bytes of the names in their paths.
  private let places: [[[UInt8]]: [PlaintextPart]]
  /// Whether parts can be in other ones.
  private let isNested: Bool

  /// Creates the content of a file.
  ///
  /// - Parameters:
  ///   - text: The content.
  ///   - parts: The parts in it, in their order.
  ///   - isNested: Whether parts can be in other ones.
  init(_ text: Secret, _ parts: [PlaintextPart], isNested: Bool) {
    (self.text, self.parts, self.isNested) = (text, parts, isNested)
    places = Dictionary(grouping: parts) { Self.place($0.path[...]) }
  }

  /// Returns the value at a path, or `nil` if there is none.
  func value(at path: [String]) throws(PlaintextFormatError) -> ExternalValue? {
    guard let part = try part(at: path) else { return nil }
    switch part.value(text) {
    case (.text, let text)?: return .text(text)
    case (.credential, let json)?, (.json, let json)?: return .json(json)
    case (.unusable(let problem), _)?:
      let line = line(at: part.range.lowerBound)
      throw PlaintextFormatError("The value \(Self.name(path[...])) on line \(line) \(problem).")
    case nil: return nil
    }
  }

  /// Returns everything that is listed, in its order.
  func entries() -> [PlaintextEntry] {
    var last = (position: 0, line: 1)
    return parts.compactMap { part in
      guard part.isListed else { return nil }
      last = (part.range.lowerBound, line(at: part.range.lowerBound, after: last))
      let counts = (isNested ? 1 : part.path.count)..<(part.path.count + 1)
      let isAmbiguous = counts.contains {
        $0 > 0 && places[Self.place(part.path[..<$0])]?.count != 1
      }
      let value =
        isAmbiguous
        ? (.unusable("has a name that occurs several times"), Secret("")) : part.value(text)
      return value.map { PlaintextEntry(part, $0, line: last.line) }
    }
  }

  /// Returns the text without the parts at some paths.
  func removing(_ paths: [[String]]) throws(PlaintextFormatError) -> Secret {
    let removed = try paths.map { (path) throws(PlaintextFormatError) in try part(at: path) }
      .compactMap(\.self)
    var ranges: [Range<Int>] = []
    /// The starts of removed parts after which nothing is left in the same object.
    var lastStarts: Set<Int> = []
    for part in removed.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
      var range = part.range
      if let end = part.endOfPrevious, part.isLast || lastStarts.contains(range.upperBound) {
        lastStarts.insert(range.lowerBound)
        range = end..<range.upperBound
      }
      ranges.append(range)
    }
    return text.removing(ranges)
  }

  private func part(at path: [String]) throws(PlaintextFormatError) -> PlaintextPart? {
    guard !path.isEmpty else {
      throw PlaintextFormatError("A path must have a name.", code: .invalidArgument)
    }
    for count in isNested ? 1..<path.count : 0..<0 {
      guard let parent = try part(exactlyAt: path[..<count]) else { return nil }
      guard parent.isObject else {
        throw PlaintextFormatError("The value \(Self.name(path[..<count])) isn't a JSON object.")
      }
    }
    return try part(exactlyAt: path[...])
  }

  private func part(
    exactlyAt path: ArraySlice<String>
  ) throws(PlaintextFormatError) -> PlaintextPart? {
    let found = places[Self.place(path)] ?? []
    guard found.count < 2 else {
      // Readers of the file differ in which of them counts.
      let lines = found.map { "\(line(at: $0.range.lowerBound))" }.joined(separator: ", ")
      throw PlaintextFormatError(
        "The value \(Self.name(path)) occurs several times, on lines \(lines).", code: .ambiguous)
    }
    return found.first
  }

  private static func name(_ path: ArraySlice<String>) -> String {
    "\"\(path.joined(separator: "."))\""
  }

  private static func place(_ path: ArraySlice<String>) -> [[UInt8]] { path.map { Array($0.utf8) } }

  /// Returns the number of the line at a position, which isn't before the last one.
  private func line(at position: Int, after last: (position: Int, line: Int) = (0, 1)) -> Int {
    text.withUnsafeBytes { $0.line(at: position, after: last) }
  }
}
