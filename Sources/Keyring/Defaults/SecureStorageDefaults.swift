// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

/// The defaults for all secure properties of the process.
///
/// Set them when the program starts:
///
/// ```swift
/// SecureStorageDefaults.service = "org.example.app"
/// ```
///
/// A property uses the first of these storages:
///
/// 1. its `storage` argument
/// 2. the storage of the current task, set with `withSecureStorage`
/// 3. the storage of the process, set here
/// 4. the platform's own: the user's keyring, and in tests a storage that refuses every operation
public enum SecureStorageDefaults {
  private struct State: Sendable {
    var storage: StorageBox?
    var service: String?
    var failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  }

  private static let state = Mutex(State())
  private static let changesOfService = Atomic(0)

  /// The number of times the service was set, which is cheaper to read than the service.
  static var serviceChanges: Int { changesOfService.load(ordering: .acquiring) }

  /// The context in which to notify those who read something now.
  static var context: TaskOverride.Context { TaskOverride.current?.context ?? .none }

  /// The storage of the process, or `nil` for the platform's own.
  ///
  /// A `cached()` storage here keeps items for a minute at most where a change can go unnoticed.
  ///
  /// ```swift
  /// SecureStorageDefaults.storage = SecretServiceStorage().cached()
  /// ```
  public static var storage: (any SecureStorage)? {
    get { state.withLock { $0.storage }?.storage }
    set {
      let new = newValue.map(StorageBox.init)
      // The old one is released after the lock, because its end can run code that uses the defaults.
      _ = state.withLock { exchange(&$0.storage, with: new) }
      TrackedItems.remove { $0.choice == .ofProcess }
    }
  }

  /// The service that items belong to.
  ///
  /// The default is the name of the executable, and for an app on Apple's platforms its bundle identifier.
  ///
  /// ```swift
  /// SecureStorageDefaults.service = "org.example.app"
  /// ```
  public static var service: String {
    get { state.withLock { $0.service } ?? Executable.defaultService }
    set {
      state.withLock { $0.service = newValue }
      changesOfService.add(1, ordering: .releasing)
      TrackedItems.remove { _ in true }
    }
  }

  /// The closure to call for every failed assignment to a property, on the thread of the assignment.
  ///
  /// It also gets one `.mainLoopBlocked` for each property whose plain use blocked the main loop for more than a second,
  /// whether the use failed or not. With `nil`, each call is a line on standard error.
  ///
  /// ```swift
  /// SecureStorageDefaults.failureHandler = { failure in
  ///   print("\(failure.property): \(failure.error.message)")
  /// }
  /// ```
  public static var failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? {
    get { state.withLock { $0.failureHandler } }
    set {
      // Like the storage, the old one is released after the lock.
      _ = state.withLock { exchange(&$0.failureHandler, with: newValue) }
    }
  }

  /// The storage that a property without its own storage currently uses, for code that works on storages
  /// directly.
  ///
  /// ```swift
  /// let diagnosis = SecureStorageDefaults.currentStorage.diagnose()
  /// ```
  public static var currentStorage: any SecureStorage { current(forPropertyNamed: nil).storage }

  static func current(forPropertyNamed name: String?) -> StorageBox {
    TaskOverride.current?.storage ?? state.withLock { $0.storage }
      ?? PlatformStorage.storage(forPropertyNamed: name)
  }

  static func report(_ failure: SecurePropertyFailure) {
    if let handler = TaskOverride.current?.failureHandler ?? failureHandler {
      handler(failure)
    } else {
      // The name of an item may contain line breaks or escape sequences.
      StandardError.write("\(failure)".inOneLine + "\n")
    }
  }
}
