// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The Python package dotenv, in Debian's version, which reads environment files.
enum PythonDotenv {
  private static let script = """
    import json, logging, sys
    from dotenv import dotenv_values
    logging.disable()
    paths = json.load(sys.stdin)
    json.dump([dotenv_values(path, interpolate=False) for path in paths], sys.stdout)
    """

  static var isInstalled: Bool { (try? run("import dotenv", input: Data())) != nil }

  /// Returns the values of each file by their names, without expanding variables.
  static func values(of paths: [String]) throws -> [[String: String?]] {
    let reply = try run(script, input: JSONEncoder().encode(paths))
    return try JSONDecoder().decode([[String: String?]].self, from: reply)
  }

  private static func run(_ script: String, input: Data) throws -> Data {
    let process = Process()
    let (standardInput, output) = (Pipe(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = ["-c", script]
    process.standardInput = standardInput
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    try standardInput.fileHandleForWriting.write(contentsOf: input)
    try standardInput.fileHandleForWriting.close()
    let result = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    return result
  }
}
