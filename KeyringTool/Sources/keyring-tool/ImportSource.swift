// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringToolCommands

/// A storage or a file of another program, from which secrets are imported.
enum ImportSource: ExpressibleByArgument {
  case storage(StorageName)
  case file(path: String)

  init?(argument: String) {
    if let name = StorageName(argument: argument) {
      self = .storage(name)
    } else if !argument.isEmpty {
      self = .file(path: StorageName.withoutTilde(argument))
    } else {
      return nil
    }
  }

  static let help = ArgumentHelp(
    """
    The storage to copy the items from, named as after --storage, or the path of a file: \
    \(PlaintextFileFormat.allCases.map(\.rawValue).joined(separator: ", ")).
    """, valueName: "storage or file")
}
