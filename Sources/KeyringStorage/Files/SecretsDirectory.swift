// SPDX-License-Identifier: Apache-2.0

package import KeyringFoundation
internal import KeyringLibc

/// An open directory in which each file is a secret.
package final class SecretsDirectory {
  /// The bytes of a file, and the time at which it was last written.
  package typealias File = (content: Secret, modified: Date)

  /// The path of the directory.
  package let path: String
  private let directory: OpenFile

  /// Opens a directory.
  ///
  /// - Parameter path: The path of the directory.
  /// - Throws: `FileFailure` if the directory can't be opened.
  package init(_ path: String) throws(FileFailure) {
    self.path = path
    directory = try OpenFile.directory(path)
  }

  /// Returns `true` if a file with a name can be a secret.
  ///
  /// Like systemd (`credential_name_valid`), it accepts 1 to 255 printable ASCII characters without "/" and
  /// ":". Of the names that begin with a dot, systemd refuses only "." and "..". This method refuses all of
  /// them, because Kubernetes puts such entries into the directory for its own purposes.
  ///
  /// - Parameter name: The name of the file.
  /// - Returns: `true` if the file can be a secret.
  package static func isName(_ name: String) -> Bool {
    (1...255).contains(name.utf8.count) && name.utf8.first != UInt8(ascii: ".")
      && name.utf8.allSatisfy { byte in
        (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "/") && byte != UInt8(ascii: ":")
      }
  }

  /// Returns the names of the files.
  ///
  /// A file that can't be reached is among them, because reading it tells why.
  ///
  /// - Returns: The names, in no particular order.
  /// - Throws: `FileFailure` if the directory can't be read.
  package func names() throws(FileFailure) -> [String] {
    try directory.names().filter { name in
      var status = stat()
      guard Self.isName(name) else { return false }
      if fstatat(directory.descriptor, name, &status, 0) != 0 { return errno != ENOENT }
      return status.st_mode & S_IFMT == S_IFREG
    }
  }

  /// Reads a file.
  ///
  /// It follows symbolic links, because Kubernetes uses them to replace secrets.
  ///
  /// - Parameter name: The name of the file, which ``isName(_:)`` must accept.
  /// - Returns: The content of the file, or `nil` if there is no such file.
  /// - Throws: `FileFailure` if the file can't be read.
  package func read(_ name: String) throws(FileFailure) -> File? {
    guard let file = try OpenFile.reading(name, in: directory) else { return nil }
    let content = try file.secret(atMost: ItemLimits.secretBytes)
    let time = try file.status().modification
    let seconds = Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    return (content, Date(timeIntervalSince1970: seconds))
  }
}

extension stat {
  fileprivate var modification: timespec {
    #if canImport(Darwin)
    st_mtimespec
    #else
    st_mtim
    #endif
  }
}
