// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage
internal import Synchronization

/// The storage and the handler that a task uses in place of those of the process.
final class TaskOverride: Sendable {
  /// The place of an override in its task, for those who are notified later of what they read there.
  final class Context: ReadingContext {
    /// The context without an override.
    static let none = Context(in: nil)

    private struct State: Sendable { weak var override: TaskOverride? }

    private let state = Mutex(State())
    private let outer: Context?

    init(in outer: Context?) { self.outer = outer }

    /// The override, or the outer one if it has ended.
    private var override: TaskOverride? { state.withLock { $0.override } ?? outer?.override }

    func run(_ body: () -> Void) {
      let override = override
      if override === TaskOverride.current { return body() }
      TaskOverride.$ofTask.withValue(override, operation: body)
    }

    func begin(_ override: TaskOverride) { state.withLock { $0.override = override } }

    func end() { state.withLock { $0.override = nil } }
  }

  @TaskLocal private static var ofTask: TaskOverride?
  /// `true` once any task has had an override.
  ///
  /// Reading it takes almost no time.
  private static let mayBeSet = Atomic(false)

  /// The override of the current task, if it has one.
  static var current: TaskOverride? { mayBeSet.load(ordering: .relaxed) ? ofTask : nil }

  /// The override of the current task, for code that runs an operation with another storage.
  static var local: TaskLocal<TaskOverride?> {
    mayBeSet.store(true, ordering: .relaxed)
    return $ofTask
  }

  let storage: StorageBox
  let failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  let context: Context
  private let outer: StorageBox?

  /// Creates an override with a storage and a handler, or with the handler of the current override.
  init(
    _ storage: any SecureStorage, _ failureHandler: (@Sendable (SecurePropertyFailure) -> Void)?
  ) {
    let outer = Self.current
    self.storage = StorageBox(storage)
    self.failureHandler = failureHandler ?? outer?.failureHandler
    self.outer = outer?.storage
    context = Context(in: outer?.context)
    context.begin(self)
  }

  /// Notifies those who track items of the outer storage, after the override has begun.
  func begin() {
    TrackedItems.didChangeStorage { [outer] item in
      outer.map(item.isIn) ?? (item.choice == .ofProcess)
    }
  }

  /// Notifies those who track items of this storage, after the override has ended.
  func end() {
    context.end()
    TrackedItems.remove { $0.isIn(storage) }
  }
}
