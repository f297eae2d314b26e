// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringLibc
internal import Synchronization

/// The libraries that this package loads when the keyring is first used.
enum LibSecret {
  private static let isLoadedAlready = Mutex(false)

  /// Indicates whether the libraries are loaded, after an attempt to load them.
  static var isLoaded: Bool { (try? load()) != nil }

  /// Loads the libraries, unless they're loaded.
  ///
  /// No function of libsecret and GLib may be called before. An operation that fails here fails in the same way
  /// until somebody installs the libraries.
  ///
  /// - Throws: `DBusError` if a library or one of its functions is missing, or can't be loaded now.
  static func load() throws(DBusError) {
    try isLoadedAlready.withLock { (isLoaded) throws(DBusError) in
      if isLoaded { return }
      if let reason = keyring_load_libsecret() {
        defer { free(reason) }
        throw .libraryFailed(String(cString: reason), isMissing: canOpenFiles)
      }
      isLoaded = true
    }
  }

  /// Indicates whether the process may open another file.
  ///
  /// With too many open files, the libraries seem to be missing.
  private static var canOpenFiles: Bool {
    let descriptor = open("/", O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { return errno != EMFILE && errno != ENFILE }
    close(descriptor)
    return true
  }
}

// The names of GLib and libsecret. In C, the types have others.
typealias GAsyncReadyCallback = KeyringGAsyncReadyCallback
typealias GCallback = KeyringGCallback
typealias GCancellable = KeyringGCancellable
typealias GClassInitFunc = KeyringGClassInitFunc
typealias GConnectFlags = KeyringGConnectFlags
typealias GDBusConnectionFlags = KeyringGDBusConnectionFlags
typealias GError = KeyringGError
typealias GIOErrorEnum = KeyringGIOErrorEnum
typealias GObject = KeyringGObject
typealias GObjectClass = KeyringGObjectClass
typealias GTypeFlags = KeyringGTypeFlags
typealias GTypeQuery = KeyringGTypeQuery
typealias GValue = KeyringGValue
typealias SecretService = KeyringSecretService
#endif
