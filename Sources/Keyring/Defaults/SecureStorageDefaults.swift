// SPDX-License-Identifier: Apache-2.0

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
/// Every access to a property looks up its storage in this order:
///
/// 1. The `storage` argument of the property.
/// 2. The override of the current task, set with `withSecureStorage`.
/// 3. The storage of the process, set here.
/// 4. The platform's own storage. On Linux, it's the Secret Service, and in a sandbox it can also be an
///    encrypted file. In a test process, it's a storage that refuses every operation, so that no test reaches
///    the developer's own keyring.
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

  @TaskLocal private static var taskStorage: StorageBox?
  /// Indicates whether any task has ever had its own storage; it takes almost no time to read.
  private static let mayBeOverridden = Atomic(false)

  /// The storage of the current task, if it has its own.
  fileprivate static var override: StorageBox? {
    mayBeOverridden.load(ordering: .relaxed) ? taskStorage : nil
  }

  /// The task-local storage, for code that runs an operation with another storage.
  static var overriding: TaskLocal<StorageBox?> {
    mayBeOverridden.store(true, ordering: .relaxed)
    return $taskStorage
  }

  /// The storage of the process, or `nil` for the platform's own.
  public static var storage: (any SecureStorage)? {
    get { state.withLock { $0.storage }?.storage }
    set { state.withLock { $0.storage = newValue.map { StorageBox($0) } } }
  }

  /// The service that items belong to.
  ///
  /// The default is the name of the executable.
  public static var service: String {
    get { state.withLock { $0.service } ?? Executable.name }
    set {
      state.withLock { $0.service = newValue }
      changesOfService.add(1, ordering: .releasing)
    }
  }

  /// The closure to call for every failed assignment to a property.
  ///
  /// It runs on the thread that made the assignment. If it's `nil`, each failure is written to standard
  /// error as one line. `withSecureStorage` can replace it for a single task.
  public static var failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? {
    get { state.withLock { $0.failureHandler } }
    set { state.withLock { $0.failureHandler = newValue } }
  }

  /// The storage that a property without its own storage currently uses.
  ///
  /// It's the override of the current task, or ``storage``, or the platform's own storage. Use it in code
  /// that needs more than properties and should follow the same rules.
  public static var currentStorage: any SecureStorage {
    current(forPropertyNamed: nil).storage
  }

  static func current(forPropertyNamed name: String?) -> StorageBox {
    override ?? state.withLock { $0.storage }
      ?? StorageBox(PlatformStorage.storage(forPropertyNamed: name))
  }

  static func report(_ failure: SecurePropertyFailure) {
    if let handler = override?.failureHandler ?? failureHandler {
      handler(failure)
    } else {
      // The message must stay on one line, even if the name of an item contains line breaks.
      StandardError.write(
        "\(failure)".split(whereSeparator: \.isNewline).joined(separator: " ") + "\n")
    }
  }
}

/// A storage in an object, which is faster to copy than `any SecureStorage`.
final class StorageBox: Sendable {
  let storage: any SecureStorage
  /// The closure to call for every failed assignment, if the storage is an override.
  let failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?

  init(
    _ storage: any SecureStorage,
    failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? = nil
  ) {
    self.storage = storage
    self.failureHandler = failureHandler
  }

  /// Returns an override for the current task, which keeps the handler of an outer override.
  static func override(
    _ storage: any SecureStorage, _ failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  ) -> StorageBox {
    StorageBox(
      storage, failureHandler: failureHandler ?? SecureStorageDefaults.override?.failureHandler)
  }
}

/// A failed assignment to a secure property.
public struct SecurePropertyFailure: Error, Sendable, CustomStringConvertible {
  /// The name that the property was declared with: the account or the label.
  public let property: String

  /// The error, which never contains the value.
  public let error: SecureStorageError

  /// Creates a description of a failed assignment, for example to test a handler.
  ///
  /// - Parameters:
  ///   - property: The name that the property was declared with.
  ///   - error: The error of the assignment.
  public init(property: String, error: SecureStorageError) {
    self.property = property
    self.error = error
  }

  /// The operation that failed.
  public var operation: SecureStorageError.Operation { error.operation }

  /// The property and the error on one line, without the value.
  public var description: String { "secure property \"\(property)\": \(error)" }
}
