// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
public import KeyringStorage
internal import Synchronization

/// A storage that uses the first available of several storages, and then always the same one.
///
/// The first operation selects the first storage that works, without writing or asking. The selection lasts as
/// long as this value, and a ``SelectionMemory`` keeps it for later runs, as <doc:ServersAndContainers> describes.
///
/// ```swift
/// SecureStorageDefaults.storage = FirstAvailableStorage([SecretServiceStorage(), myStorage])
/// ```
public struct FirstAvailableStorage: AsynchronousStorage, ObservableStorage {
  /// The state that all copies share.
  final class Decision: Sendable {
    struct State {
      var selection: Selection?
      /// Whether the selection is remembered, so that stored items are found again.
      var isRemembered = false
      /// Whether it was reported that another storage is available.
      var isTold = false
      /// The number of times a selection was forgotten, which a selection in progress compares.
      var generation = 0
      #if Logging
      var isLogged = false
      #endif

      mutating func forget() { self = State(generation: generation + 1) }
    }

    let state = Mutex(State())
    /// The observers of the selected storage, who learn of the end of its selection.
    let observers = ObserverList()

    func forget() {
      state.withLock { $0.forget() }
      observers.report(.interrupted)
    }

    /// Returns the event of the current selection, or `nil` if it was logged.
    func event(of selection: Selection) -> KeyringEvent? {
      #if Logging
      let (wasLogged, generation) = state.withLock { state in
        (exchange(&state.isLogged, with: true), state.generation)
      }
      let text = selection.description
      if wasLogged { return nil }
      if generation > 0 { return .selectionChanged(text) }
      let isFallback = selection.remembered == nil && !selection.skipped.isEmpty
      return isFallback ? .fallbackTaken(text) : .storageSelected(text)
      #else
      nil
      #endif
    }
  }

  let storages: [any SecureStorage]
  /// The names under which the storages are remembered.
  let names: [String]
  let memory: SelectionMemory
  let handler: (@Sendable (Selection) -> Void)?
  let decision = Decision()

  /// Creates a storage that selects one of several storages at its first operation.
  ///
  /// - Parameters:
  ///   - storages: The storages to select from, in order of preference.
  ///   - memory: The memory for the selection. By default it's a file in the user's home, under the name of
  ///     the executable.
  ///   - handler: A closure that is called once if a storage before the current one becomes available. The
  ///     thread or task of the operation that notices this calls it. It must not use this storage. By
  ///     default, a line is written to standard error.
  public init(
    _ storages: [any SecureStorage], remembering memory: SelectionMemory = .program(),
    whenAnotherAppears handler: (@Sendable (Selection) -> Void)? = nil
  ) {
    self.storages = storages
    self.memory = memory
    self.handler = handler
    var names: [String] = []
    var counts: [String: Int] = [:]
    for storage in storages {
      let name = storage.backendName.inOneLine
      let count = counts[name, default: 0] + 1
      counts[name] = count
      names.append(count == 1 ? name : "\(name) \(count)")
    }
    self.names = names
  }

  /// The limit of the selected storage, or before the selection the largest one.
  public var secretByteLimit: Int {
    let limits = storages.map(\.secretByteLimit)
    let index = decision.state.withLock { $0.selection?.index }
    return index.map { limits[$0] } ?? limits.max() ?? ItemLimits.secretBytes
  }

  /// The promise of the selected storage, or before the selection the smallest one.
  public var durability: StorageDurability {
    let promises = storages.map(\.durability)
    let index = decision.state.withLock { $0.selection?.index }
    return index.map { promises[$0] } ?? promises.min() ?? .afterRestart
  }

  /// The promise of the selected storage, or before the selection that of all storages.
  public var readsOneVersion: Bool {
    let selected = decision.state.withLock { $0.selection?.storage }
    return selected?.readsOneVersion ?? storages.allSatisfy(\.readsOneVersion)
  }

  /// The selected storage and the reasons for it; "FirstAvailableStorage" before there is one.
  public var backendName: String {
    decision.state.withLock { $0.selection }?.description ?? "FirstAvailableStorage"
  }

  /// The time of the selected storage, and a minute before a storage is selected.
  public var cacheLifetime: Duration? {
    let selected = decision.state.withLock { $0.selection?.storage }
    guard let storage = selected as? any ObservableStorage else { return .cacheLifetime }
    return storage.cacheLifetime
  }
}
