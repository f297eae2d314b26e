// SPDX-License-Identifier: Apache-2.0

package import KeyringCore

#if Logging
internal import Logging
#endif

/// Something that a program can see in its log, with the trait `Logging`.
///
/// The article Logging has a table of the events. No event has a secret, or the name of an item, a file or a user.
public struct KeyringEvent {
  private enum Level: String {
    case trace, debug, info
  }

  private typealias Fields = [String: String]

  private let level: Level
  private let message: String
  private let fields: () -> Fields

  private init(_ level: Level, _ message: String, _ fields: @escaping () -> Fields = { [:] }) {
    (self.level, self.message, self.fields) = (level, message, fields)
  }
}

// MARK: - Logging

// The functions are public for the sake of a build without the trait: the compiler inlines none of a package into its
// other modules. Inlined, an event leaves no instruction.
extension KeyringEvent {
  #if Logging
  /// Logs an event with the logger of the current task.
  ///
  /// Don't call it under a lock, because a log handler is the program's own code.
  ///
  /// - Parameter event: The event, or `nil` for none.
  public static func log(_ event: @autoclosure () -> KeyringEvent?) {
    let logger = Logger.current
    guard logger.logLevel <= .info, let event = event(),
      let level = Logger.Level(rawValue: event.level.rawValue)
    else { return }
    logger.log(
      level: level, "\(event.message)", metadata: event.fields().mapValues { "\($0)" },
      source: "Keyring")
  }

  /// Returns a closure that logs with the logger of the current task, on whichever thread it runs.
  public static func inheritingLogger(
    _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    let logger = Logger.current
    return { withLogger(logger) { _ in body() } }
  }

  /// Returns a closure that logs with the logger of the current task, in whichever task it runs.
  public static func inheritingLogger(
    _ body: nonisolated(nonsending) @escaping @Sendable () async -> Void
  ) -> nonisolated(nonsending) @Sendable () async -> Void {
    let logger = Logger.current
    return { await withLogger(logger) { _ in await body() } }
  }

  /// The moment at which something began.
  public struct Start: Sendable {
    private let moment = ContinuousClock.now

    /// Notes the current moment.
    public init() {}

    fileprivate var microseconds: String {
      "\(Int64((ContinuousClock.now - moment) / .microseconds(1)))"
    }
  }
  #else
  /// Does nothing, and doesn't make the event.
  @inlinable @inline(__always)
  public static func log(_ event: @autoclosure () -> KeyringEvent?) {}

  /// Returns the closure.
  @inlinable @inline(__always)
  public static func inheritingLogger(
    _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    body
  }

  /// Returns the closure.
  @inlinable @inline(__always)
  public static func inheritingLogger(
    _ body: nonisolated(nonsending) @escaping @Sendable () async -> Void
  ) -> nonisolated(nonsending) @Sendable () async -> Void {
    body
  }

  /// A moment that nobody asks for.
  public struct Start: Sendable {
    /// Creates the value.
    @inlinable @inline(__always)
    public init() {}

    fileprivate var microseconds: String { "" }
  }
  #endif
}

// MARK: - The events

extension KeyringEvent {
  package static func operationSucceeded(
    _ operation: SecureStorageError.Operation, backend: String, since start: Start
  ) -> KeyringEvent {
    KeyringEvent(.trace, "Operation succeeded") {
      [
        "keyring.operation": operation.rawValue, "keyring.backend": backend,
        "keyring.microseconds": start.microseconds,
      ]
    }
  }

  package static func operationFailed(
    _ error: SecureStorageError, since start: Start
  ) -> KeyringEvent {
    KeyringEvent(.debug, "Operation failed") { fields(of: error, since: start) }
  }

  package static func operationRepeated(after error: SecureStorageError) -> KeyringEvent {
    KeyringEvent(.debug, "Operation is repeated") { fields(of: error) }
  }

  package static func sessionOpened(provider: String, isEncrypted: Bool) -> KeyringEvent {
    KeyringEvent(.debug, "Session opened") {
      ["keyring.provider": provider, "keyring.encrypted": "\(isEncrypted)"]
    }
  }

  package static func userAwaited(
    _ operation: SecureStorageError.Operation, backend: String
  ) -> KeyringEvent {
    KeyringEvent(.debug, "Waiting for the user") {
      ["keyring.operation": operation.rawValue, "keyring.backend": backend]
    }
  }

  package static func keyRequested(from source: String, backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Key requested") {
      ["keyring.source": source, "keyring.backend": backend]
    }
  }

  package static func turnTaken(backend: String, since start: Start) -> KeyringEvent {
    KeyringEvent(.debug, "Turn taken") {
      ["keyring.backend": backend, "keyring.microseconds": start.microseconds]
    }
  }

  package static func turnRefused(_ error: SecureStorageError, since start: Start) -> KeyringEvent {
    KeyringEvent(.debug, "Turn refused") { fields(of: error, since: start) }
  }

  package static var turnLost: KeyringEvent { KeyringEvent(.debug, "Turn lost") }

  package static func updateRepeated(backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Update is repeated") { ["keyring.backend": backend] }
  }

  package static var leaseLost: KeyringEvent { KeyringEvent(.debug, "Lease lost") }

  package static func nodeLeft(_ node: String, cause: String) -> KeyringEvent {
    KeyringEvent(.debug, "Node left") { ["keyring.node": node, "keyring.cause": cause] }
  }

  package static func observationInterrupted(backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Observation interrupted") { ["keyring.backend": backend] }
  }

  package static func observationResumed(backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Observation resumed") { ["keyring.backend": backend] }
  }

  package static func cacheHit(backend: String) -> KeyringEvent {
    KeyringEvent(.trace, "Item was cached") { ["keyring.backend": backend] }
  }

  package static func cacheMiss(backend: String) -> KeyringEvent {
    KeyringEvent(.trace, "Item wasn't cached") { ["keyring.backend": backend] }
  }

  package static var cacheEmptied: KeyringEvent { KeyringEvent(.debug, "Cache emptied") }

  package static func storageSelected(_ selection: String) -> KeyringEvent {
    KeyringEvent(.debug, "Storage selected") { ["keyring.selection": selection] }
  }

  package static func fallbackTaken(_ selection: String) -> KeyringEvent {
    KeyringEvent(.info, "Fallback taken") { ["keyring.selection": selection] }
  }

  package static func selectionChanged(_ selection: String) -> KeyringEvent {
    KeyringEvent(.info, "Selection changed") { ["keyring.selection": selection] }
  }

  /// Returns what is known of an error, without its texts, which may have the name of a file or an item.
  private static func fields(of error: SecureStorageError, since start: Start? = nil) -> Fields {
    var fields = [
      "keyring.operation": error.operation.rawValue, "keyring.backend": error.backendName,
      "keyring.code": error.code.rawValue,
    ]
    if let cause = error.underlying { fields["keyring.cause"] = "\(cause.domain) \(cause.code)" }
    if let start { fields["keyring.microseconds"] = start.microseconds }
    return fields
  }
}
