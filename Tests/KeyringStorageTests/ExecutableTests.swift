// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import KeyringRuntime

@Suite struct ExecutableTests {
  @Test(arguments: [
    ("/usr/bin/app", "app"), ("app", "app"), ("/opt/my app/run", "run"),
    ("/usr/bin/app (deleted)", "app"), ("/", "/"),
  ])
  func `the name is the file name of the path`(path: String, name: String) {
    #expect(Executable.baseName(of: path) == name)
  }

  @Test func `this process is recognized as a test process`() {
    #expect(TestProcess.isCurrent)
    #expect(Executable.name.hasSuffix(".xctest"))
  }
}
