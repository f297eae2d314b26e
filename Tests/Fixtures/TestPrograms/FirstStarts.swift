// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
/// Programs that start at once, and generate the keys that they don't find.
package enum FirstStarts {
  /// Starts programs that begin at the same moment.
  ///
  /// - Parameters:
  ///   - count: The number of programs.
  ///   - storage: The storage that the programs use, as the worker names it.
  ///   - service: The service of their items, which has none yet.
  /// - Returns: A line of each program with the keys that it uses, or with "failed".
  /// - Throws: An error if a program can't be started.
  package static func run(_ count: Int, in storage: String, service: String) throws -> [String] {
    try run((0..<count).map { try Program.worker("begin", storage, service, "p\($0)") })
  }

  /// Starts programs that move an item to another name at the same moment.
  ///
  /// - Parameters:
  ///   - count: The number of programs.
  ///   - storage: The storage that the programs use, as the worker names it.
  ///   - service: The service of the item.
  /// - Returns: A line of each program with what it finds under the new name, or with "failed".
  /// - Throws: An error if a program can't be started.
  package static func move(_ count: Int, in storage: String, service: String) throws -> [String] {
    try run((0..<count).map { _ in try Program.worker("move", storage, service) })
  }

  private static func run(_ programs: [Program]) throws -> [String] {
    for program in programs { _ = try program.readLine() }
    for program in programs { try program.writeLine("begin") }
    return try programs.map { program in
      let (status, output) = try program.finish()
      return status == 0 ? String(decoding: output, as: UTF8.self) : "failed"
    }
  }
}
#endif
