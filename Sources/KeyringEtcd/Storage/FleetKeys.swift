// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringRuntime
internal import KeyringSealing
internal import KeyringStorage
internal import Synchronization

/// The keys of the namespace as they were read last, and the source that opens them.
final class FleetKeys: Sendable {
  private let settings: FleetSettings
  private let keys = Mutex<NamespaceKeys?>(nil)
  private let keySource: Mutex<KeySource>
  /// The permission to ask for the key, for one task at a time.
  private let asking = TaskSemaphore(1)

  init(_ source: KeySource, _ settings: FleetSettings) {
    keySource = Mutex(source)
    self.settings = settings
  }

  /// The keys that were read last.
  var current: NamespaceKeys? { keys.withLock { $0 } }

  /// The source of the key.
  var source: KeySource {
    get { keySource.withLock { $0 } }
    set { keySource.withLock { $0 = newValue } }
  }

  func request(_ purpose: KeyRequest.Purpose) -> KeyRequest {
    KeyRequest(
      purpose, for: "namespace \(settings.namespace)", backendName: FleetSettings.backendName)
  }

  /// Takes over keys from etcd.
  ///
  /// Replies can arrive in another order than the requests were processed. So keys that were taken over since the
  /// request was sent win.
  ///
  /// - Parameters:
  ///   - replies: The replies to ``NamespaceKeys/requests(_:)``.
  ///   - namespace: The namespace.
  ///   - sent: The keys that were known when the requests were sent.
  ///   - purpose: The purpose of the keys. An inspection leaves the user alone, and passes the operations that wait
  ///     for an answer.
  /// - Returns: The keys of the replies, or newer ones.
  /// - Throws: `SecureStorageError` for keys that the source doesn't open, or for damaged ones.
  func take(
    _ replies: some Sequence<RangeReply>, of namespace: Namespace, after sent: NamespaceKeys?,
    _ purpose: KeyRequest.Purpose
  ) async throws(SecureStorageError) -> NamespaceKeys {
    if purpose == .opening {
      guard await asking.take(until: nil) == .ended else { throw settings.error(.canceled) }
    }
    defer { if purpose == .opening { asking.giveBack() } }
    let known = current
    if let known, known.conditions != sent?.conditions { return known }
    let new = try await NamespaceKeys(
      replies.flatMap(\.values), of: namespace, known: known, source, request(purpose))
    return keys.withLock { keys in
      if let newer = keys, newer.conditions != known?.conditions { return newer }
      keys = new
      return new
    }
  }
}
#endif
