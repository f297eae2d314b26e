// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// The current program.
package enum Executable {
  /// The file name of the program, with links resolved, so that all names of one program share items.
  package static let name = baseName(of: path)

  /// The service that items belong to by default: an app's bundle identifier, or the name of the program.
  package static let defaultService = Platform.bundleIdentifier ?? name

  private static var path: String {
    #if os(Linux)
    if let path = ProcFile.link("/proc/self/exe") { return path }
    #endif
    return CommandLine.arguments.first ?? "swift-keyring"
  }

  static func baseName(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    // The kernel adds this mark if the file was replaced while the program runs, for example by an upgrade.
    let mark = " (deleted)"
    return name.hasSuffix(mark) ? String(name.dropLast(mark.count)) : name
  }
}
