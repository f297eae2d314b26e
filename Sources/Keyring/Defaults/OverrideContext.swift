// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The place of an override in its task, for those who are notified later of what they read there.
final class OverrideContext: ReadingContext {
  /// The context without an override.
  static let none = OverrideContext(in: nil)

  private struct State: Sendable { weak var override: TaskOverride? }

  private let state = Mutex(State())
  private let outer: OverrideContext?

  init(in outer: OverrideContext?) { self.outer = outer }

  /// The override, or the outer one if it has ended.
  var override: TaskOverride? { state.withLock { $0.override } ?? outer?.override }

  func run(_ body: () -> Void) { SecureStorageDefaults.run(with: override, body) }

  func begin(_ override: TaskOverride) { state.withLock { $0.override = override } }

  func end() { state.withLock { $0.override = nil } }
}
