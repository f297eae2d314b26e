// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// A question at the terminal on a thread that isn't the main one.
///
/// The tests are here because they need Python, which the build without libsecret does without.
@Suite struct HiddenInputTests {
  private func ask(_ before: String, _ after: String) throws -> Program {
    try .inTerminal("bash -c '\(before); \(Program.workerPath) ask; \(after)'")
  }

  @Test func `what is typed isn't shown`() throws {
    let program = try ask("true", "stty -a")
    #expect(try program.read(until: "Secret: ").hasSuffix("Secret: "))
    try program.writeLine("t0p s3cret")
    let text = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(
      text.contains("10 bytes") && text.contains(" echo ") && !text.contains("t0p"), "\(text)")
  }

  @Test func `Ctrl-C ends the program and shows input again`() throws {
    let program = try ask("trap : INT", "echo status $?; stty -a")
    #expect(try program.read(until: "Secret: ").hasSuffix("Secret: "))
    try program.write("half a se\u{3}")
    // The end of the input would be another answer.
    let text = try program.read(until: "status 130")
    let rest = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(
      text.hasSuffix("status 130") && rest.contains(" echo ") && !text.contains("half"),
      "\(text)\(rest)")
  }

  /// Sends a signal to a program that asks, and returns what the terminal shows until it has a text.
  ///
  /// Swift's own handler of a crash starts another program.
  private func send(
    _ number: Int32, to use: String, backtracer: String?, until end: String
  ) throws -> (program: Program, text: String) {
    let settings = backtracer.map { "yes,swift-backtrace=\($0)" } ?? "no"
    let program = try Program.inTerminal(
      """
      bash -c 'ulimit -c 0; export SWIFT_BACKTRACE=enable=\(settings); \
      bash -c "echo process \\$\\$ .; exec \(Program.workerPath) \(use)"; echo status $?; stty -a'
      """)
    let process = try #require(
      pid_t(try program.read(until: " .").split(separator: " ").dropLast().last ?? ""))
    #expect(try program.read(until: "Secret: ").hasSuffix("Secret: "))
    kill(process, number)
    return (program, try program.read(until: end))
  }

  @Test(
    arguments: [
      (SIGQUIT, nil), (SIGQUIT, "/bin/true"), (SIGSEGV, nil), (SIGSEGV, "/bin/true"),
      (SIGABRT, nil), (SIGUSR1, nil), (SIGUSR2, nil), (SIGALRM, nil), (SIGXCPU, nil), (40, nil),
      (SIGTERM, nil), (SIGHUP, nil),
    ] as [(Int32, String?)])
  func `a signal that ends the program shows input again`(
    number: Int32, backtracer: String?
  ) throws {
    let end = "status \(128 + number)"
    let (program, text) = try send(number, to: "ask", backtracer: backtracer, until: end)
    let rest = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.hasSuffix(end) && rest.contains(" echo "), "\(text)\(rest)")
    #expect(text.contains("crashed") == (backtracer != nil), "\(text)")
  }

  @Test(arguments: [nil, "/bin/true"])
  func `a program that crashes shows input again`(backtracer: String?) throws {
    let end = "status \(128 + SIGSEGV)"
    let (program, text) = try send(
      SIGUSR2, to: "ask handled", backtracer: backtracer, until: end)
    let rest = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.hasSuffix(end) && rest.contains(" echo "), "\(text)\(rest)")
    #expect(text.contains("crashed") == (backtracer != nil), "\(text)")
  }

  @Test func `a program that handles a signal itself asks again, or isn't disturbed`() throws {
    var (program, text) = try send(
      SIGQUIT, to: "ask handled", backtracer: nil, until: "Secret: ")
    try program.writeLine("t0p s3cret")
    text += String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.contains("10 bytes") && !text.contains("t0p"), "\(text)")
    (program, text) = try send(SIGUSR1, to: "ask handled", backtracer: nil, until: "")
    try program.writeLine("t0p s3cret")
    text += String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.contains("10 bytes") && !text.contains("t0p"), "\(text)")
  }

  @Test func `Ctrl-Z stops the program, which asks again when it continues`() throws {
    let program = try ask("set -m", "echo stopped; stty -a; fg")
    #expect(try program.read(until: "Secret: ").hasSuffix("Secret: "))
    try program.write("half a se\u{1A}")
    let text = try program.read(until: "Secret: ")
    #expect(
      text.contains("stopped") && text.contains(" echo ") && !text.contains("half"), "\(text)")
    try program.writeLine("t0p s3cret")
    let rest = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(rest.contains("10 bytes") && !rest.contains("t0p"), "\(rest)")
  }

  #if EncryptedFile
  /// Asks for a passphrase on a thread that blocks signals, and calls a closure with the path of a pipe that ends
  /// the question.
  private func askForPassphrase(
    _ before: String, _ after: String,
    _ body: (Program, _ prompt: String, _ pipe: String) throws -> Void
  ) throws {
    let directory = TemporaryDirectory()
    let (file, pipe) = (directory.path("secrets"), directory.path("pipe"))
    try #require(mkfifo(pipe, 0o600) == 0)
    let question = "\(Program.workerPath) ask-until \(file) \(pipe)"
    let program = try Program.inTerminal("bash -c '\(before); \(question); \(after)'")
    let prompt = "New passphrase of the file \(file): "
    try #require(try program.read(until: prompt).hasSuffix(prompt))
    try body(program, prompt, pipe)
  }

  /// Lets the program cancel its question, for which it waits at the other end of a pipe.
  private func cancel(_ pipe: String) throws {
    // A program that has ended isn't waited for.
    try #require(
      waitUntil {
        let end = open(pipe, O_WRONLY | O_NONBLOCK)
        close(end)
        return end >= 0
      })
  }

  @Test func `a question ends when its task is cancelled`() throws {
    try askForPassphrase("true", "stty -a") { program, _, pipe in
      try cancel(pipe)
      let end = "error canceled"
      let text = try program.read(until: end)
      let rest = String(decoding: try program.finish().output, as: UTF8.self)
      #expect(text.hasSuffix(end) && rest.contains(" echo "), "\(text)\(rest)")
    }
  }

  @Test func `a program that continues in the background stops until it can ask again`() throws {
    let after = "echo stopped; bg; wait %1; echo status $?; stty -a; fg"
    // On one processor, a thread would go on after a signal that another thread takes.
    let before = "set -m; taskset -cp 0 $$; chrt -bp 0 $$"
    try askForPassphrase(before, after) { program, prompt, pipe in
      try program.write("half a se\u{1A}")
      // By SIGTTOU, and without a prompt.
      let end = "status \(128 + SIGTTOU)"
      let text = try program.read(until: end)
      #expect(text.hasSuffix(end) && !text.contains(prompt), "\(text)")
      let state = try program.read(until: prompt)
      #expect(state.hasSuffix(prompt) && state.contains(" echo "), "\(state)")
      try cancel(pipe)
      _ = try program.finish()
    }
  }
  #endif

  @Test func `a line that the terminal cuts off is refused`() throws {
    let program = try ask("true", "true")
    #expect(try program.read(until: "Secret: ").hasSuffix("Secret: "))
    try program.writeLine(String(repeating: "x", count: 5000))
    let text = String(decoding: try program.finish().output, as: UTF8.self)
    #expect(text.contains("longer than the terminal accepts") && !text.contains("bytes"), "\(text)")
  }
}
#endif
