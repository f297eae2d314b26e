// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KeyringToolCommands

/// Counts of how often the bytes of a `.netrc` file are read.
///
/// `PlaintextImportTests` has what is found in it.
@Suite struct NetrcFormatTests {
  /// Bytes that count how often one of them is read.
  private struct CountedBytes: RandomAccessCollection {
    final class Counter { var count = 0 }

    let bytes: [UInt8]
    let counter = Counter()

    var startIndex: Int { 0 }
    var endIndex: Int { bytes.count }

    subscript(index: Int) -> UInt8 {
      counter.count += 1
      return bytes[index]
    }
  }

  /// Returns how often each byte of a file is read, on average.
  private func readsPerByte(of text: String, entries: Int) -> Int {
    let bytes = CountedBytes(bytes: Array(text.utf8))
    var parser = NetrcParser(bytes)
    #expect(parser.entries().count == entries)
    return bytes.counter.count / bytes.count
  }

  @Test(arguments: ["\n", " ", "\n\n\t# c\n"])
  func `each byte is read as often in a long file as in a short one`(separator: String) {
    func file(_ count: Int) -> String {
      (0..<count).map { "machine h\($0) login a password \"p\\\"\"" }.joined(separator: separator)
    }
    let reads = [10, 1_000].map { readsPerByte(of: file($0), entries: $0) }
    #expect(reads[1] <= reads[0] + 1)
  }
}
