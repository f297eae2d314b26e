// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringPlatform
internal import KeyringRuntime
internal import Synchronization

/// The libraries that this package loads when the keyring is first used.
enum LibSecret {
  private static let isLoadedAlready = Mutex(false)

  /// `true` after the libraries were loaded.
  static var isLoaded: Bool { isLoadedAlready.withLock(\.self) }

  /// Loads the libraries, unless they're loaded.
  ///
  /// No operation may call a function of libsecret or GLib before, because the call would abort without them. The next
  /// operation tries again.
  ///
  /// - Throws: The error of a library that is missing, lacks a function or can't be loaded now.
  static func load() throws(DBusError) {
    try isLoadedAlready.withLock { (isLoaded) throws(DBusError) in
      if isLoaded { return }
      if let shortage = Shortage.before(descriptors: 2) { throw DBusError(shortage) }
      if let reason = keyring_load_libsecret() {
        defer { free(reason) }
        let text = String(cString: reason)
        // Other failures may pass, such as too many open files, or may be mended, such as a missing library that libsecret
        // needs. The keyring may have the item.
        let isMissing =
          text.hasPrefix("libsecret-1.so.0:") && text.hasSuffix(String(cString: strerror(ENOENT)))
        throw .libraryFailed(text, isMissing: isMissing)
      }
      isLoaded = true
    }
  }
}
#endif
