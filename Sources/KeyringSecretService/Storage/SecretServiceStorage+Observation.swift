// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
public import KeyringStorage

extension SecretServiceStorage: ObservableStorage {
  /// A minute, or `nil` for a keyring in use that is known to report every change.
  ///
  /// The article "Observing changes" names the keyrings that don't.
  public var cacheLifetime: Duration? {
    SessionCache.shared.provider(at: options.busAddress)?.changesSilently == false
      ? nil : .cacheLifetime
  }

  /// Calls a closure with everything that happens to the items of the collection, also after the bus or the
  /// keyring was restarted.
  ///
  /// It never unlocks anything and never asks the user. A query with a service or a key costs less in a
  /// large collection.
  @concurrent public func observeWithoutBlocking(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) async throws(SecureStorageError) -> StorageSubscription {
    try requireLibraries(for: .observe)
    let failure = { error($0, during: .observe) }
    return try await CallLoop.run(orThrow: failure) { () async throws(SecureStorageError) in
      let deadline = Deadline(after: options.serviceTimeout)
      do throws(SecretSession.OpeningFailure) {
        return try await ChangeMonitor.shared(at: options.busAddress)
          .observe(options.collection, query, until: deadline, observer)
      } catch {
        throw error.error(.observe, of: self)
      }
    }
  }
}
#endif
