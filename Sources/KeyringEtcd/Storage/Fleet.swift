// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringSealing

/// The state that the copies of a storage share.
final class Fleet: Sendable {
  let settings: FleetSettings
  let connection: FleetConnection
  let keys: FleetKeys
  let items = KnownItems()
  let writes = WriteRecords()
  let watches = ItemWatches()
  let turns = FleetTurns()

  /// Creates the state of a storage before its first use.
  ///
  /// - Parameters:
  ///   - settings: The settings of the storage.
  ///   - source: The source of the key.
  ///   - transport: The way to send requests, or `nil` for the JSON gateway.
  init(_ settings: FleetSettings, _ source: KeySource, transport: (any EtcdTransport)? = nil) {
    self.settings = settings
    keys = FleetKeys(source, settings)
    // In another history, the same revisions are those of other changes.
    connection = FleetConnection(settings, transport) {
      [weak items, weak writes, weak watches, weak turns] in
      items?.forgetHistory()
      writes?.forgetHistory()
      watches?.forgetHistory()
      turns?.forgetHistory()
    }
  }

  /// Returns the encrypted item in a place as an event has brought it, or `nil` where a later one may be missing.
  func reportedValue(at place: EtcdKey) -> KeyValue? {
    // The author of a write in doubt reads the cluster, which ends the doubt.
    guard !writes.hasDoubts, watches.follow(place) else { return nil }
    return items.reportedValue(at: place)
  }
}
#endif
