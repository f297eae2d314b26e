// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringStorage

/// The files of a directory of secrets at one moment, without the secrets.
struct SecretsInventory: Sendable {
  struct File: Sendable {
    let identity: FileIdentity
    /// The hash of the content, with a key that only this process has.
    let content: Int
  }

  /// The files by name; `nil` if a file can't be read.
  let files: [String: File?]
  private let directory: FileIdentity
  private let hasVersions: Bool

  init(_ directory: SecretsDirectory) throws(FileFailure) {
    var files: [String: File?] = [:]
    for name in try directory.names() {
      let file = Result { () throws(FileFailure) in try directory.read(name) }
      switch file {
      case .success(let file?): files[name] = File(file)
      case .success(nil): break
      // The next read throws the error. It mustn't keep other files from being observed.
      case .failure: files[name] = .some(nil)
      }
    }
    self.files = files
    self.directory = try directory.identity()
    hasVersions = directory.hasVersions
  }

  /// Indicates whether this is only the directory beneath the one that was mounted there before.
  func isBeneath(_ mounted: SecretsInventory) -> Bool {
    if hasVersions { return false }
    return mounted.hasVersions
      || files.isEmpty && !mounted.files.isEmpty && !directory.isOfSameFile(as: mounted.directory)
  }

  /// Returns the names of the files whose content has changed, with changes of the keys that `key` returns.
  func changes(since old: SecretsInventory, of key: (String) -> ItemKey?) -> [ItemChange] {
    let names = Set(files.keys).union(old.files.keys).sorted()
    return names.compactMap { name in
      guard let key = key(name) else { return nil }
      switch (old.files[name], files[name]) {
      case (nil, _): return .created(key)
      case (_, nil): return .removed(key)
      case (let before?, let now?): return before?.content == now?.content ? nil : .replaced(key)
      }
    }
  }
}

extension SecretsInventory.File {
  init(_ file: SecretsDirectory.File) {
    identity = file.identity
    var hasher = Hasher()
    file.content.withUnsafeBytes { hasher.combine(bytes: $0) }
    hasher.combine(file.content.count)
    content = hasher.finalize()
  }
}
#endif
