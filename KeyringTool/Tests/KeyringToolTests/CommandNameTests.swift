// SPDX-License-Identifier: Apache-2.0

import KeyringToolCommands
import Testing

@Suite struct CommandNameTests {
  private let names = ["list", "ls", "get", "set", "remove", "rm", "doctor", "export", "help"]

  @Test(arguments: [
    ("show", "get"), ("lookup", "get"), ("search", "list"), ("delete", "remove"), ("lsit", "list"),
    ("docter", "doctor"), ("exprot", "export"), ("remov", "remove"),
  ])
  func `a name of another tool or with a typing error is understood`(name: String, command: String)
  {
    #expect(CommandName.similar(to: name, in: names) == command)
  }

  @Test(arguments: ["s3cret", "", "x", "password"])
  func `another text is no name`(name: String) {
    #expect(CommandName.similar(to: name, in: names) == nil)
  }
}
