// SPDX-License-Identifier: Apache-2.0

package import KeyringCore

#if Metrics
internal import CoreMetrics
#endif
#if Logging
internal import Logging
#endif

/// Something that a program can see in its log, with the trait `Logging`, or in its metrics, with the trait `Metrics`.
///
/// The article Logging has tables of both. No event has a secret, or the name of an item, a file or a user.
public struct KeyringEvent {
  private enum Level: String {
    case trace, debug, info
  }

  /// The number of a program that an event adds to.
  private enum Metric {
    case counter(String)
    case timer(String)
  }

  private typealias Fields = [String: String]

  private let level: Level
  private let message: String
  private let metric: Metric?
  private let fields: () -> Fields

  private init(
    _ level: Level, _ message: String, _ metric: Metric? = nil,
    _ fields: @escaping () -> Fields = { [:] }
  ) {
    (self.level, self.message, self.metric, self.fields) = (level, message, metric, fields)
  }
}

// MARK: - Reporting

// The functions are public for the sake of a build without the traits: the compiler inlines none of a package into its
// other modules. Inlined, an event leaves no instruction.
extension KeyringEvent {
  #if Logging || Metrics
  /// Logs an event with the logger of the current task, and counts it.
  ///
  /// Don't call it under a lock, because a log handler is the program's own code.
  ///
  /// - Parameter event: The event, or `nil` for none.
  public static func report(_ event: @autoclosure () -> KeyringEvent?) {
    #if !Metrics
    guard Logger.current.logLevel <= .info else { return }
    #endif
    guard let event = event() else { return }
    #if Metrics
    event.count()
    #endif
    #if Logging
    event.log()
    #endif
  }

  /// The moment at which something began.
  public struct Start: Sendable {
    private let moment = ContinuousClock.now

    /// Notes the current moment.
    public init() {}

    fileprivate var microseconds: Int64 { Int64((ContinuousClock.now - moment) / .microseconds(1)) }
  }
  #else
  /// Does nothing, and doesn't make the event.
  @inlinable @inline(__always)
  public static func report(_ event: @autoclosure () -> KeyringEvent?) {}

  /// A moment that nobody asks for.
  public struct Start: Sendable {
    /// Creates the value.
    @inlinable @inline(__always)
    public init() {}

    fileprivate var microseconds: Int64 { 0 }
  }
  #endif

  #if Logging
  private func log() {
    let logger = Logger.current
    guard let level = Logger.Level(rawValue: level.rawValue), logger.logLevel <= level else {
      return
    }
    logger.log(
      level: level, "\(message)", metadata: fields().mapValues { "\($0)" }, source: "Keyring")
  }
  #endif

  #if Metrics
  /// Adds the event to the metrics of the program.
  private func count() {
    guard let metric else { return }
    let fields = fields()
    // What has few values, and each of them in every event of a metric
    let dimensions = ["operation", "backend", "code", "node"].compactMap { name in
      fields["keyring.\(name)"].map { (name, $0) }
    }
    switch metric {
    case .counter(let label): Counter(label: label, dimensions: dimensions).increment()
    case .timer(let label):
      let microseconds = fields["keyring.microseconds"].flatMap { Int64($0) } ?? 0
      Timer(label: label, dimensions: dimensions).recordMicroseconds(microseconds)
    }
  }
  #endif

  #if Logging
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
  #else
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
  #endif
}

// MARK: - The events

extension KeyringEvent {
  package static func operationSucceeded(
    _ operation: SecureStorageError.Operation, backend: String, since start: Start
  ) -> KeyringEvent {
    KeyringEvent(.trace, "Operation succeeded", .timer("keyring.operations")) {
      [
        "keyring.operation": operation.rawValue, "keyring.backend": backend,
        "keyring.microseconds": "\(start.microseconds)",
      ]
    }
  }

  package static func operationFailed(
    _ error: SecureStorageError, since start: Start
  ) -> KeyringEvent {
    KeyringEvent(.debug, "Operation failed", .counter("keyring.operation.failures")) {
      fields(of: error, since: start)
    }
  }

  package static func operationRepeated(after error: SecureStorageError) -> KeyringEvent {
    KeyringEvent(.debug, "Operation is repeated", .counter("keyring.operation.repetitions")) {
      fields(of: error)
    }
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
    KeyringEvent(.debug, "Turn taken", .timer("keyring.turns")) {
      ["keyring.backend": backend, "keyring.microseconds": "\(start.microseconds)"]
    }
  }

  package static func turnRefused(_ error: SecureStorageError, since start: Start) -> KeyringEvent {
    KeyringEvent(.debug, "Turn refused", .counter("keyring.turn.refusals")) {
      fields(of: error, since: start)
    }
  }

  package static var turnLost: KeyringEvent {
    KeyringEvent(.debug, "Turn lost", .counter("keyring.turn.losses"))
  }

  package static func updateRepeated(backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Update is repeated", .counter("keyring.update.repetitions")) {
      ["keyring.backend": backend]
    }
  }

  package static var leaseLost: KeyringEvent {
    KeyringEvent(.debug, "Lease lost", .counter("keyring.lease.losses"))
  }

  package static func nodeLeft(_ node: String, cause: String) -> KeyringEvent {
    KeyringEvent(.debug, "Node left", .counter("keyring.node.failures")) {
      ["keyring.node": node, "keyring.cause": cause]
    }
  }

  package static func observationInterrupted(backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Observation interrupted", .counter("keyring.observation.interruptions")) {
      ["keyring.backend": backend]
    }
  }

  package static func observationResumed(backend: String) -> KeyringEvent {
    KeyringEvent(.debug, "Observation resumed") { ["keyring.backend": backend] }
  }

  package static func cacheHit(backend: String) -> KeyringEvent {
    KeyringEvent(.trace, "Item was cached", .counter("keyring.cache.hits")) {
      ["keyring.backend": backend]
    }
  }

  package static func cacheMiss(backend: String) -> KeyringEvent {
    KeyringEvent(.trace, "Item wasn't cached", .counter("keyring.cache.misses")) {
      ["keyring.backend": backend]
    }
  }

  package static var cacheEmptied: KeyringEvent {
    KeyringEvent(.debug, "Cache emptied", .counter("keyring.cache.evictions"))
  }

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
    if let start { fields["keyring.microseconds"] = "\(start.microseconds)" }
    return fields
  }
}
