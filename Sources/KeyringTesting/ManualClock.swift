// SPDX-License-Identifier: Apache-2.0

// The form with `await` is told by it.
// swift-format-ignore-file: AmbiguousTrailingClosureOverload

public import KeyringPlatform
internal import KeyringStorage
internal import Synchronization

/// A clock by which stored values expire, and which your test sets.
///
/// ```swift
/// @Test(.secureStorage(InMemoryStorage())) func expiredTokensAreRenewed() async throws {
///   let clock = ManualClock()
///   try await clock.run {
///     settings.tokens = Tokens(access: "old", expires: clock.now + 3600)
///     clock.advance(by: .seconds(3600))
///     try await settings.$tokens.refresh(within: .seconds(60)) { _ in .renewed }
///   }
///   #expect(settings.tokens == .renewed)
/// }
/// ```
public final class ManualClock: Sendable {
  private let date: Mutex<Date>

  /// Creates a clock that stands still.
  ///
  /// - Parameter now: The date that it shows.
  public init(now: Date = .now) { date = Mutex(now) }

  /// The date that the clock shows.
  public var now: Date { date.withLock { $0 } }

  /// Sets the clock forward.
  ///
  /// - Parameter duration: The time by which it's set forward.
  public func advance(by duration: Duration) { date.withLock { $0 += duration / .seconds(1) } }

  /// Runs a closure in whose task and child tasks values expire by this clock.
  ///
  /// - Parameter body: The closure.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  public func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    try CurrentDate.$source.withValue({ self.now }, operation: body)
  }

  /// Runs an asynchronous closure in whose task and child tasks values expire by this clock.
  ///
  /// - Parameter body: The closure.
  /// - Returns: The result of the closure.
  /// - Throws: The error of the closure.
  public nonisolated(nonsending) func run<Result>(
    _ body: () async throws -> Result
  ) async rethrows -> Result {
    try await CurrentDate.$source.withValue({ self.now }, operation: body)
  }
}
