import Testing

@testable import KeyringStorage

@Suite struct ExecutableTests {
  @Test(arguments: [
    ("/usr/bin/app", "app"), ("app", "app"), ("/opt/my app/run", "run"),
    ("/usr/bin/app (deleted)", "app"), ("/", "/"),
  ])
  func nameIsTheFileName(path: String, name: String) {
    #expect(Executable.baseName(of: path) == name)
  }

  @Test func thisIsATestProcess() {
    #expect(TestProcess.isCurrent)
    #expect(Executable.name.hasSuffix(".xctest"))
  }
}
