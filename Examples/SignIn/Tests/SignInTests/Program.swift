// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// A running program that a test talks to, line by line.
final class Program {
  /// The exit status and the output of a program.
  struct Result {
    let status: Int32
    let output: String
    let errors: String
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors = Pipe()
  private var text = Data()

  init(_ name: String, _ arguments: [String] = []) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = errors
    try process.run()
  }

  deinit {
    // Don't use terminate(): a child inherits the signal mask of Dispatch's threads, which block SIGTERM.
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  @discardableResult
  static func run(_ name: String, _ arguments: [String], input: String = "") throws -> Result {
    let program = try Program(name, arguments)
    try program.input.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    return try program.end()
  }

  func writeLine(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Waits for the next line of the program.
  ///
  /// If the program ends instead, the test fails with the program's reason.
  func readLine() throws -> String {
    while true {
      if let end = text.firstIndex(of: UInt8(ascii: "\n")) {
        defer { text = Data(text[(end + 1)...]) }
        return String(decoding: text[..<end], as: UTF8.self)
      }
      var descriptor = pollfd(
        fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      try #require(poll(&descriptor, 1, 60_000) > 0, "the program doesn't write a line")
      let more = output.fileHandleForReading.availableData
      if more.isEmpty {
        let reason = try errors.fileHandleForReading.readToEnd() ?? Data()
        try #require(Bool(false), "\(String(decoding: reason, as: UTF8.self))")
      }
      text += more
    }
  }

  /// Ends the program's input, and waits until the program has ended.
  func end() throws -> Result {
    try input.fileHandleForWriting.close()
    return try finish()
  }

  /// Waits until the program has ended.
  func finish() throws -> Result {
    text += try output.fileHandleForReading.readToEnd() ?? Data()
    let errors = try errors.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }
}
