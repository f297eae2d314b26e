// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile
internal import KeyringRuntime

internal import KeyringPlatform

extension OpenFile {
  /// Opens a file beside the encrypted one, or creates it for the owner of that one, or of the directory without one.
  ///
  /// - Parameters:
  ///   - content: The path of the encrypted file.
  ///   - path: The path of the file beside it.
  /// - Returns: The open file, which can be read and written.
  /// - Throws: The failure to open or create it.
  static func beside(_ content: String, at path: String) throws(FileFailure) -> OpenFile {
    while true {
      do throws(FileFailure) {
        // The file of a user can be written by root, who must not lock the user out. The directory may belong to
        // the user, who must not be given a file that was there before.
        let new = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW)
        var owner = stat()
        guard geteuid() == 0 else { return new }
        let isThere = lstat(content, &owner) == 0 && owner.st_mode & S_IFMT == S_IFREG
        let directory = content.lastIndex(of: "/").map { String(content[...$0]) } ?? "."
        guard isThere || stat(directory, &owner) == 0, owner.st_uid != 0 else { return new }
        guard fchown(new.descriptor, owner.st_uid, owner.st_gid) == 0 else {
          let failure = FileFailure("can't be given to the owner of the other file")
          unlink(path)
          throw failure
        }
        return new
      } catch {
        if error.number != EEXIST { throw error }
      }
      do throws(FileFailure) {
        let there = try OpenFile(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        _ = try there.regularStatus(atMost: .max)
        return there
      } catch {
        // Someone may have removed it in between.
        if error.number != ENOENT { throw error }
      }
    }
  }
}
#endif
