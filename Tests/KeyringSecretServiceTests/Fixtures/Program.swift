#if SecretService && os(Linux)
import Foundation

/// A program that runs beside the tests, with its standard input and output at our end.
final class Program: Sendable {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  /// Starts a program, by its path or as found on `PATH`.
  init(
    _ name: String, _ arguments: [String] = [], complaints: FileHandle = .standardError
  ) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = complaints
    try process.run()
  }

  /// Waits for a line of output, and takes no more than that.
  func readLine() throws -> String {
    var line = Data()
    while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
      line += byte
    }
    return String(decoding: line, as: UTF8.self)
  }

  /// Hands the program all of its input, and waits for its end.
  func finish(input text: Data = Data()) throws -> (status: Int32, output: Data) {
    if !text.isEmpty { try input.fileHandleForWriting.write(contentsOf: text) }
    try input.fileHandleForWriting.close()
    let rest = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, rest)
  }

  /// Ends the program, and tells what it had still written.
  ///
  /// Not by SIGTERM: what a thread of Dispatch starts has that blocked.
  @discardableResult
  func end() throws -> Data {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    return try output.fileHandleForReading.readToEnd() ?? Data()
  }
}
#endif
