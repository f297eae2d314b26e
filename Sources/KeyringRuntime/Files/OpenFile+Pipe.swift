// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
internal import KeyringPlatform

extension OpenFile {
  /// Creates a pipe.
  ///
  /// - Returns: The ends of the pipe, which are also closed when another program is started.
  /// - Throws: The failure to create the pipe.
  package static func pipe() throws(FileFailure) -> (reading: OpenFile, writing: OpenFile) {
    var ends: [Int32] = [-1, -1]
    guard swift_keyring_pipe(&ends) == 0 else { throw FileFailure("can't be given a pipe") }
    return (OpenFile(ends[0]), OpenFile(ends[1]))
  }

  /// Throws an error if the process can't open a number of files now.
  ///
  /// Some libraries end the process then.
  static func checkDescriptors(_ count: Int) throws(FileFailure) {
    var pipes: [(reading: OpenFile, writing: OpenFile)] = []
    while pipes.count * 2 < count { pipes.append(try pipe()) }
  }
}
#endif
