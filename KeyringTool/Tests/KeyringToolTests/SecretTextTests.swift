// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringToolCommands
import Testing

@Suite struct SecretTextTests {
  @Test(arguments: [
    ("s3cret\n", false, "s3cret"), ("s3cret\n\n", false, "s3cret\n"), ("s3cret", false, "s3cret"),
    ("s3cret\n", true, "s3cret\n"), ("", false, ""), ("\n", false, ""),
    ("s3cret\r\n", false, "s3cret"), ("s3cret\r", false, "s3cret\r"),
    ("\u{FEFF}s3cret\r\n", false, "s3cret"), ("\u{FEFF}s3cret\r\n", true, "\u{FEFF}s3cret\r\n"),
  ])
  func `one line end and the mark of UTF-8 are not part of a text secret`(
    input: String, isBinary: Bool, secret: String
  ) {
    #expect(SecretText.secret(from: Secret(input), isBinary: isBinary) == Secret(secret))
  }
}
