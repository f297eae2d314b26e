// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringRuntime
internal import KeyringStorage

/// The files of a directory of secrets at one moment, without the secrets.
struct SecretsInventory: Sendable {
  /// The hashes of the files by name; `nil` for an unreadable file.
  let files: [String: Int?]
  private let directory: FileIdentity
  private let hasVersions: Bool

  init(_ directory: SecretsDirectory) throws(FileFailure) {
    var files: [String: Int?] = [:]
    for name in try directory.names() {
      let file = Result { () throws(FileFailure) in
        try directory.read(name, atMost: ItemLimits.secretBytes)
      }
      switch file {
      case .success(let file?): files[name] = file.hash
      case .success(nil): break
      // The next read throws the error. It mustn't keep other files from being observed.
      case .failure: files[name] = .some(nil)
      }
    }
    for name in directory.strayLinks.keys { files[name] = .some(nil) }
    self.files = files
    self.directory = try directory.identity()
    hasVersions = directory.hasVersions
  }

  /// Returns `true` if this is only the directory beneath the one that was mounted there before.
  func isBeneath(_ mounted: SecretsInventory) -> Bool {
    if hasVersions { return false }
    return mounted.hasVersions
      || files.isEmpty && !mounted.files.isEmpty && !directory.isOfSameFile(as: mounted.directory)
  }

  /// Returns the changes since earlier, of the keys that the closure returns for the names of the files.
  func changes(since old: SecretsInventory, of key: (String) -> ItemKey?) -> [ItemChange] {
    let names = Set(files.keys).union(old.files.keys).sorted()
    return names.compactMap { name in
      guard let key = key(name) else { return nil }
      switch (old.files[name], files[name]) {
      case (nil, _): return .created(key)
      case (_, nil): return .removed(key)
      case (let before?, let now?): return before == now ? nil : .replaced(key)
      }
    }
  }
}
#endif
