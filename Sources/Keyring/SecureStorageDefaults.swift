public import KeyringStorage
internal import Synchronization

/// What every secure property of the process uses unless it says otherwise.
///
/// Set it when the program starts:
///
/// ```swift
/// SecureStorageDefaults.service = "org.example.app"
/// ```
///
/// It is looked up at every access, in this order: the argument of the property, the override of
/// the current task (`withSecureStorage`), what is set here, and at last the platform's own: on Linux
/// the Secret Service, but in a test process a storage that refuses, so that no test reaches the
/// developer's own keyring.
public enum SecureStorageDefaults {
  private struct State: Sendable {
    var storage: ChosenStorage?
    var service: String?
    var failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  }

  private static let state = Mutex(State())
  private static let changesOfService = Atomic(0)

  /// How often the service was set, which is known sooner than the service.
  static var serviceChanges: Int { changesOfService.load(ordering: .acquiring) }

  @TaskLocal private static var taskStorage: ChosenStorage?
  /// Whether any task has ever had a storage of its own; to see that takes no time.
  private static let mayBeOverridden = Atomic(false)

  /// The storage of this task, if it has one of its own.
  private static var override: ChosenStorage? {
    mayBeOverridden.load(ordering: .relaxed) ? taskStorage : nil
  }

  /// The storage of a task, for what runs something with it.
  static var overriding: TaskLocal<ChosenStorage?> {
    mayBeOverridden.store(true, ordering: .relaxed)
    return $taskStorage
  }

  /// The storage of the process; `nil` for the platform's own.
  public static var storage: (any SecureStorage)? {
    get { state.withLock { $0.storage }?.storage }
    set { state.withLock { $0.storage = newValue.map(ChosenStorage.init) } }
  }

  /// The service that items belong to; by default the name of the executable.
  public static var service: String {
    get { state.withLock { $0.service } ?? Executable.name }
    set {
      state.withLock { $0.service = newValue }
      changesOfService.add(1, ordering: .releasing)
    }
  }

  /// Called for every failed assignment to a property, on the thread that assigned.
  ///
  /// While it is `nil`, each is one line on standard error.
  public static var failureHandler: (@Sendable (SecurePropertyFailure) -> Void)? {
    get { state.withLock { $0.failureHandler } }
    set { state.withLock { $0.failureHandler = newValue } }
  }

  /// The storage that a property without one of its own uses here and now: the override of the
  /// current task, or ``storage``, or the platform's own.
  ///
  /// For code that needs more than properties, and shall follow the same rules.
  public static var storageInForce: any SecureStorage {
    inForce(forPropertyNamed: nil).storage
  }

  static func inForce(forPropertyNamed name: String?) -> ChosenStorage {
    override ?? state.withLock { $0.storage }
      ?? ChosenStorage(PlatformStorage.storage(forPropertyNamed: name))
  }

  static func report(_ failure: SecurePropertyFailure) {
    if let failureHandler {
      failureHandler(failure)
    } else {
      // One line, whatever somebody has named an item.
      StandardError.write(
        "\(failure)".split(whereSeparator: \.isNewline).joined(separator: " ") + "\n")
    }
  }
}

/// A storage that was chosen, as one object: to copy `any SecureStorage` takes longer.
final class ChosenStorage: Sendable {
  let storage: any SecureStorage

  init(_ storage: any SecureStorage) { self.storage = storage }
}

/// An assignment to a secure property that failed.
public struct SecurePropertyFailure: Error, Sendable, CustomStringConvertible {
  /// The name that the property was declared with: the account or the label.
  public let property: String

  /// What went wrong; it never holds the value.
  public let error: SecureStorageError

  /// Describes a failed assignment, for testing a handler.
  ///
  /// - Parameters:
  ///   - property: The name that the property was declared with.
  ///   - error: What went wrong.
  public init(property: String, error: SecureStorageError) {
    self.property = property
    self.error = error
  }

  /// What the property was doing.
  public var operation: SecureStorageError.Operation { error.operation }

  /// The property and the error in one line, without the value.
  public var description: String { "secure property \"\(property)\": \(error)" }
}
