// SPDX-License-Identifier: Apache-2.0

public import Keyring

/// A filter for the output of a program, which replaces secrets by a mark.
///
/// It finds them wherever the output is divided. It holds bytes back only while a secret begins with them. Secrets that
/// overlap or touch each other have one mark together.
public final class HidingFilter {
  /// The smallest number of bytes of a secret that can be hidden, because shorter ones are also found by chance.
  public static let shortest = 8
  /// The text in the place of secrets.
  public static let mark = Secret("").description

  private struct Pattern {
    let secret: Secret
    /// For each beginning of the secret, the length of the longest shorter one that is also its end.
    let borders: [Int]
    /// The number of bytes of the secret with which the output ends.
    var found = 0
  }

  private var patterns: [Pattern]
  /// The last bytes of the output, and those of the secrets among them.
  private var held = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
  private var count = 0
  private var hidden: [Range<Int>] = []
  /// Whether the byte before the held ones is hidden.
  private var isMarked = false

  /// Creates a filter.
  ///
  /// - Parameters:
  ///   - secrets: The secrets. Line ends at their ends don't matter.
  ///   - isTerminal: Pass `true` if line feeds may also be a carriage return and a line feed.
  public init(_ secrets: [Secret], isTerminal: Bool) {
    let secrets = secrets.map(Self.body)
    let lines = isTerminal ? secrets.compactMap(Self.onTerminal) : []
    patterns = (secrets + lines).filter { $0.count > 0 }.map { secret in
      Pattern(secret: secret, borders: secret.withUnsafeBytes(Self.borders))
    }
  }

  /// Returns a secret without the line ends at its end, which a program may leave out.
  public static func body(_ secret: Secret) -> Secret {
    secret.withUnsafeBytes { bytes in
      let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D } ?? -1
      return end == bytes.count - 1
        ? secret : Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[...end]))
    }
  }

  /// Returns a secret as a terminal shows it, or `nil` if it has only one line.
  private static func onTerminal(_ secret: Secret) -> Secret? {
    secret.withUnsafeBytes { bytes in
      let count = bytes.count { $0 == 0x0A }
      if count == 0 { return nil }
      return withUnsafeTemporaryAllocation(byteCount: bytes.count + count, alignment: 1) { room in
        defer { room.wipe() }
        var next = 0
        for byte in bytes {
          if byte == 0x0A {
            room[next] = 0x0D
            next += 1
          }
          room[next] = byte
          next += 1
        }
        return Secret(copying: UnsafeRawBufferPointer(room))
      }
    }
  }

  private static func borders(_ bytes: UnsafeRawBufferPointer) -> [Int] {
    var borders = [0]
    for index in bytes.indices.dropFirst() {
      borders.append(next(after: borders[index - 1], bytes[index], bytes, borders))
    }
    return borders
  }

  /// Returns the length of the longest beginning of a secret with which the output ends after one more byte.
  @inline(__always)
  private static func next(
    after found: Int, _ byte: UInt8, _ secret: UnsafeRawBufferPointer, _ borders: [Int]
  ) -> Int {
    var found = found
    while found > 0, found == secret.count || secret[found] != byte { found = borders[found - 1] }
    return secret[found] == byte ? found + 1 : 0
  }

  /// Filters a part of the output.
  ///
  /// - Parameters:
  ///   - bytes: The part.
  ///   - write: A closure that gets what can be written already.
  /// - Throws: The error of the closure.
  public func filter(
    _ bytes: UnsafeRawBufferPointer, _ write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let start = count
    append(bytes)
    let all = UnsafeRawBufferPointer(rebasing: held[..<count])
    for index in patterns.indices { find(index, in: all, from: start) }
    mergeHidden()
    let end = max(0, count - (patterns.map(\.found).max() ?? 0))
    // What is hidden already stays so.
    try pass(hidden.first { $0.contains(end) }?.upperBound ?? end, write)
  }

  deinit {
    held.wipe()
    held.deallocate()
  }

  /// Passes the end of the output on.
  ///
  /// - Parameter write: A closure that gets the rest.
  /// - Throws: The error of the closure.
  public func finish(_ write: (UnsafeRawBufferPointer) throws -> Void) throws {
    try pass(count, write)
  }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    if held.count < count + bytes.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 2 * (count + bytes.count), alignment: 1)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: held[..<count]))
      held.wipe()
      held.deallocate()
      held = larger
    }
    UnsafeMutableRawBufferPointer(rebasing: held[count...]).copyMemory(from: bytes)
    count += bytes.count
  }

  private func find(_ index: Int, in all: UnsafeRawBufferPointer, from start: Int) {
    let (secret, borders) = (patterns[index].secret, patterns[index].borders)
    var found = patterns[index].found
    secret.withUnsafeBytes { secret in
      var position = start
      while position < all.count {
        if found == 0 {
          // Most bytes begin no secret.
          guard let start = all.baseAddress,
            let first = memchr(start + position, Int32(secret[0]), all.count - position)
          else { return }
          position = UnsafeRawPointer(first) - start
        }
        found = Self.next(after: found, all[position], secret, borders)
        position += 1
        guard found == secret.count else { continue }
        var range = max(0, position - found)..<position
        if let last = hidden.last, range.lowerBound <= last.upperBound, last.lowerBound < position {
          range = min(last.lowerBound, range.lowerBound)..<max(last.upperBound, position)
          hidden.removeLast()
        }
        hidden.append(range)
      }
    }
    patterns[index].found = found
  }

  /// Sorts the ranges of all secrets, and joins those that overlap or touch.
  private func mergeHidden() {
    hidden = hidden.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { merged, range in
      guard let last = merged.last, range.lowerBound <= last.upperBound else {
        return merged.append(range)
      }
      merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
    }
  }

  /// Writes the bytes before a position, and forgets them.
  private func pass(
    _ end: Int, _ write: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    func writePlain(_ range: Range<Int>) throws {
      if range.isEmpty { return }
      isMarked = false
      try write(UnsafeRawBufferPointer(rebasing: held[range]))
    }
    var position = 0
    for range in hidden where range.lowerBound < end {
      try writePlain(position..<range.lowerBound)
      if !isMarked {
        isMarked = true
        try Array(Self.mark.utf8).withUnsafeBytes(write)
      }
      position = min(range.upperBound, end)
    }
    try writePlain(position..<end)
    hidden = hidden.compactMap { range in
      range.upperBound <= end
        ? nil : max(0, range.lowerBound - end)..<(range.upperBound - end)
    }
    let rest = UnsafeRawBufferPointer(rebasing: held[end..<count])
    held.copyMemory(from: rest)
    UnsafeMutableRawBufferPointer(rebasing: held[rest.count..<count]).wipe()
    count = rest.count
  }
}
