// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

@Suite struct KnownLimitationTests {
  @Test func `the article shows the list of known limitations`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let article = try String(
      contentsOf: root.appending(path: "Sources/Keyring/Documentation.docc/Providers.md"),
      encoding: .utf8)
    let listed = article.split(separator: "\n").filter { line in
      KnownLimitation.all.contains { line.hasPrefix("| \($0.provider.rawValue) |") }
    }
    #expect(listed.map(String.init) == KnownLimitation.all.map(\.line))
  }
}
#endif
