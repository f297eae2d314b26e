import Foundation
import Testing

/// Another program, spoken to as a person or a script would.
final class Program {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var text = Data()

  init(_ name: String, _ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
  }

  /// The tool stands beside the bundle of its tests.
  static var toolPath: String {
    URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("keyring-tool").path
  }

  static func tool(
    _ arguments: [String], input: String = ""
  ) throws -> (status: Int32, output: String) {
    try run(toolPath, arguments, input: input)
  }

  static func run(
    _ name: String, _ arguments: [String], input: String = ""
  ) throws -> (status: Int32, output: String) {
    let program = try Program(name, arguments)
    try program.type(input)
    try program.input.fileHandleForWriting.close()
    return try program.finish()
  }

  func type(_ text: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
  }

  /// Reads until the program has written a text, which is taken off what is left to read.
  func waitFor(_ prompt: String) throws {
    while text.range(of: Data(prompt.utf8)) == nil {
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "the program ended without writing \"\(prompt)\"")
      text += more
    }
    text.removeSubrange(..<(text.range(of: Data(prompt.utf8))?.upperBound ?? text.endIndex))
  }

  func finish() throws -> (status: Int32, output: String) {
    text += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }
}
