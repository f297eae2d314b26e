// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The arguments of this program, byte for byte.
///
/// Swift's own list replaces bytes that aren't UTF-8.
enum ProgramArguments {
  /// Each argument with a NUL at its end, beginning with the name of the program.
  static let all: [[CChar]] = (0..<Int(CommandLine.argc)).map { index in
    guard let start = CommandLine.unsafeArgv[index] else { return [0] }
    var end = 0
    while start[end] != 0 { end += 1 }
    return Array(UnsafeBufferPointer(start: start, count: end + 1))
  }

  /// Throws an error if an argument isn't UTF-8, unless it's one for a program that this one starts.
  ///
  /// Otherwise, the tool would use another file or item than the one that is named.
  static func check() throws {
    let startsProgram = ["run", "update"].contains(CommandLine.arguments.dropFirst().first)
    let own =
      startsProgram
      ? CommandLine.arguments.prefix { $0 != "--" }[...] : CommandLine.arguments[...]
    let isText = all.map { String(validating: $0, as: UTF8.self) != nil }
    guard let index = own.indices.first(where: { !isText[$0] }) else { return }
    throw ValidationError(
      """
      Argument \(index) isn't UTF-8. Only the arguments of a program that "run" or "update" starts can be any bytes. \
      Give a file or an item a name in UTF-8.
      """)
  }
}
