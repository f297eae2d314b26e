// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

/// The options of the two commands that copy items.
struct CopyOptions: ParsableArguments {
  @OptionGroup var items: ItemOptions

  @Flag(help: "Replace items that the destination has with another value.")
  var replace = false

  @Flag(help: "Also copy the items that other programs have for themselves.")
  var allPrograms = false

  /// Copies the items, and says which of them weren't copied.
  func run(from source: any SecureStorage, to destination: any SecureStorage) throws {
    let report = try ItemCommands(source).copy(
      items.selection(), allPrograms: allPrograms, to: destination, replacing: replace)
    try Terminal.report(
      "copied \(report.copied)", isNothing: report.copied == 0 && report.refusals.isEmpty,
      left: report.left)
    for line in report.refusals { Terminal.complain(line) }
    if !report.refusals.isEmpty { throw ExitCode.failure }
  }

  static let discussion = """
    The command copies all items that match the arguments and options. Without any, it copies everything \
    that "list" shows, except for items that other programs have for themselves. It names these, and copies \
    them with --all-programs. It reads each item back and compares it. The copies have the same secrets, labels and \
    attributes, but new times. If the destination has an item with the same secret and attributes, it \
    counts as copied, even if it has another label or further attributes.

    If the destination has an item with another value, that item stays as it is, unless you specify \
    --replace. Each item that isn't copied is named on standard error, and the exit status isn't 0. It's 3 \
    if no item matches. The source stays as it is.
    """
}
