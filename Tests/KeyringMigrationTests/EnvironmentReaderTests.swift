// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringMigration
import KeyringStorage
import StorageModel
import TestPrograms
import Testing

/// Environment files with random lines, which python-dotenv reads, too.
@Suite(
  .enabled(
    if: PythonDotenv.isInstalled, "python3-dotenv is missing: Scripts/install-packages peers")
)
struct EnvironmentReaderTests {
  /// Text of parts that readers of such files treat in a special way.
  private static func file(_ generator: inout SeededGenerator) -> String {
    let parts = [
      "a", "s3cret", "é", "=", "#", " #", " ", "\t", "\"", "'", "`", "\\", "\\n", "\\\"", "\\\\",
      "\\'",
      "$HOME", "${A}", "\n", "\r\n", "\r", "\u{B}", "\u{A0}", "-----BEGIN KEY-----", "+/",
      "export ",
    ]
    func text(_ count: Int) -> String {
      (0..<count).map { _ in generator.pick(parts) }.joined()
    }
    return (0..<Int.random(in: 1...4, using: &generator)).map { _ -> String in
      let name = generator.pick(["A", "B", "export C", "D_1", " E", "F ", "G.h", ""])
      let quote = generator.pick(["", "", "\"", "'"])
      // Most quotes are well formed, or few files would be accepted.
      var value = text(Int.random(in: 0...4, using: &generator))
      if !generator.oneIn(5) { value.removeAll { "\"'`\r\n\r\n\\".contains($0) || $0.isNewline } }
      let end = generator.pick(["\n", "\n", "\n", "\r\n", "\r", " # comment\n", "x\n", "\n\n"])
      return name + generator.pick(["=", "=", "= ", " = ", ""]) + quote + value + quote + end
    }.joined()
  }

  /// Each value is the one that Python reads, or the file is refused with the number of a line.
  @Test(.tags(.slow)) func `each value is what Python reads, or is refused`() throws {
    var generator = SeededGenerator(seed: 48)
    let directory = TemporaryDirectory()
    let files = (0..<1000).map { _ in Self.file(&generator) }
    let paths = try files.enumerated().map { number, text in
      try directory.write(text, "\(number).env")
      return directory.path("\(number).env")
    }
    let theirs = try PythonDotenv.values(of: paths)
    var (same, refused) = (0, 0)
    for (path, (text, values)) in zip(paths, zip(files, theirs)) {
      for name in ["A", "B", "C", "D_1", "E", "F", "G.h"] {
        let storage = InMemoryStorage()
        let key = ItemKey.password(service: "service", account: name)
        let migration = Migration(
          of: [.password(name, as: key)], from: .environmentFile(path), to: storage)
        do throws(SecureStorageError) {
          try migration.copy()
          let value = try storage.password(for: key)
          #expect(value == values[name, default: nil], "\(name) in \(text.debugDescription)")
          if value != nil { same += 1 }
        } catch {
          refused += 1
          #expect(error.message.contains(/line(s)? \d/.ignoresCase()), "\(error)")
          #expect(!"\(error)".contains("s3cret"))
        }
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
    }
    print("\(files.count) files: \(same) values are the same, \(refused) are refused")
    #expect(same > 500 && refused > 500)
  }
}
