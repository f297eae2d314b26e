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

  private let secrets: [Secret]
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
    let bodies = secrets.map(Self.body).filter { $0.count > 0 }
    self.secrets = isTerminal ? bodies + bodies.compactMap(Self.onTerminal) : bodies
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
      let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
      if lines.count == 1 { return nil }
      let end = Secret("\r\n")
      return Secret(joining: Array(lines.map { [Secret(bytes: $0)] }.joined(separator: [end])))
    }
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
    let ends = secrets.map { $0.withUnsafeBytes { hide($0, addedAt: start) } }
    mergeHidden()
    try pass(ends.min() ?? count, write)
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

  /// Hides a secret wherever it ends in new bytes, and returns the position at which the last bytes begin it.
  private func hide(_ secret: UnsafeRawBufferPointer, addedAt start: Int) -> Int {
    guard let bytes = held.baseAddress, let wanted = secret.baseAddress else { return count }
    var position = max(0, start - secret.count + 1)
    // Most bytes begin no secret.
    while let first = memchr(bytes + position, Int32(secret[0]), count - position) {
      position = first - bytes
      let length = min(secret.count, count - position)
      if memcmp(first, wanted, length) == 0 {
        if length < secret.count { return position }
        hidden.append(position..<(position + length))
      }
      position += 1
    }
    return count
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
    // A secret that is found has its mark at once, even if another one may begin with it.
    for range in hidden where range.lowerBound <= end {
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
