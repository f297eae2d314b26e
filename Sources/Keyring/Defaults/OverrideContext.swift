// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The place of an override in its task, for those who are told later of what they read there.
final class OverrideContext: Sendable {
  private struct State: Sendable { weak var override: TaskOverride? }

  private let state = Mutex(State())
  private let outer: OverrideContext?

  init(in outer: OverrideContext?) { self.outer = outer }

  /// The override, or the outer one if it has ended.
  var override: TaskOverride? { state.withLock { $0.override } ?? outer?.override }

  func begin(_ override: TaskOverride) { state.withLock { $0.override = override } }

  func end() { state.withLock { $0.override = nil } }
}
