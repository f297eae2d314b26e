// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

/// The options of the commands that change one item or many.
struct BulkOptions: ParsableArguments {
  @OptionGroup var items: ItemOptions

  @Flag(help: "Select all items of the service or server.")
  var all = false

  @Flag(help: "With --all, also select the items that other programs have for themselves.")
  var allPrograms = false

  func validate() throws {
    if allPrograms, !all { throw ValidationError("Use --all-programs only with --all.") }
  }

  /// Prints the number of changed items, and names those that were left.
  func report(_ verb: String, _ count: Int, by commands: ItemCommands) throws {
    let left = all && !allPrograms ? try commands.left(items.selection()) : []
    try Terminal.report("\(verb) \(count)", isNothing: count == 0, left: left)
  }
}

extension Terminal {
  /// Prints what was done, and names the items of other programs that were left.
  static func report(_ line: String, isNothing: Bool, left: [String]) throws {
    for line in left { complain(line) }
    let advice = "To select what other programs have stored, use --all-programs."
    if isNothing {
      throw left.isEmpty
        ? ToolFailure.nothingSelected
        : ToolFailure("No other item matches.", recoverySuggestion: advice, status: .notFound)
    }
    if !left.isEmpty { complain(advice) }
    try print([line])
  }
}
