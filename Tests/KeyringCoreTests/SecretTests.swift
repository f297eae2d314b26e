// SPDX-License-Identifier: Apache-2.0

import KeyringCore
import Testing

@Suite struct SecretTests {
  @Test(arguments: ["", "s3cret", "hällo", "e\u{301}", "nul\0inside", "👩‍💻"])
  func `a secret keeps its text`(text: String) {
    #expect(Secret(text).text.map { Array($0.utf8) } == Array(text.utf8))
    #expect(Secret(text).count == text.utf8.count)
  }

  @Test(arguments: [[0xFF], [0xC3, 0x28], [0xED, 0xA0, 0x80]] as [[UInt8]])
  func `a secret that is not UTF-8 has no text`(bytes: [UInt8]) {
    #expect(Secret(bytes: bytes).text == nil)
  }

  @Test func `secrets are equal if their bytes are equal`() {
    #expect(Secret("s3cret") == Secret(bytes: Array("s3cret".utf8)))
    #expect(Secret("s3cret") != Secret("s3creT"))
    #expect(Secret("s3cret") != Secret("s3cret "))
    #expect(Secret("") == Secret(bytes: []))
    #expect(Secret("e\u{301}") != Secret("\u{E9}"))
  }

  @Test(arguments: [0, 1, 6, 5000])
  func `a span has the bytes of a secret, also of a part of it`(count: Int) {
    let bytes = (0..<count).map { UInt8($0 % 251) }
    let secret = Secret(copying: bytes.span.bytes)
    #expect(secret == Secret(bytes: bytes))
    #expect(secret.withBytes { $0.byteCount } == count)
    #expect(secret.withBytes { Secret(copying: $0) } == secret)
    #expect(
      secret.withBytes { Secret(copying: $0.extracting(last: 4)) } == Secret(bytes: bytes.suffix(4))
    )
  }

  @Test func `a span is of the memory of the secret`() {
    let secret = Secret("s3cret")
    let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    let spanned = secret.withBytes { $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    #expect(spanned == address)
  }

  @Test func `the closure may throw its own error`() {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try Secret("s3cret").withBytes { _ throws(Stop) in throw Stop() }
    }
    #expect(throws: Stop.self) {
      try Secret("s3cret").withUnsafeBytes { _ throws(Stop) in throw Stop() }
    }
  }
}
