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
    The path of a file, or a storage to copy the items from, named as after --storage. Files: \
    \(PlaintextFileFormat.allCases.map(\.rawValue).joined(separator: ", ")).
    """, valueName: "file or storage")
}
