// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

extension OpenFile {
  /// Returns the names of the entries of this directory.
  ///
  /// - Returns: The names, in no particular order, with "." and "..".
  /// - Throws: The failure to read the directory.
  package func names() throws(FileFailure) -> [String] {
    // A directory stream takes over its descriptor, and a descriptor has only one position. Ours may be in
    // use, so the stream gets another one.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let failure = FileFailure("can't be read")
      close(copy)
      throw failure
    }
    defer { closedir(stream) }
    var names: [String] = []
    // Only the number of the error distinguishes a failure from the end.
    errno = 0
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        })
      errno = 0
    }
    guard errno == 0 else { throw FileFailure("can't be read") }
    return names
  }
}
