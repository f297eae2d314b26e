// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import Keyring
import KeyringRuntime
import KeyringStorage
import KeyringTesting
import Synchronization
import TestPrograms
import Testing

/// The rules about reading and observing, on directories whose files another program writes.
@Suite(.tags(.threads), .timeLimit(.minutes(1))) struct DirectoryContractTests {
  /// The rules that are about neither labels nor attributes, nor keys of which several share a file.
  @Test(arguments: [
    StorageContract.missingIsEmpty, .undecodableIsNotMissing, .canceledCallsAreNotMade,
    .progressEndsWithItsQuery, .endedObservationsAreSilent, .observersMayUseTheStorage,
    .nobodyWaitsForObservers,
  ])
  func contract(rule: StorageContract) throws { try rule.verify(WrittenDirectories()) }
}

/// The directories of services, and a writer of their files.
private final class WrittenDirectories: BlockingStorage, ObservableStorage {
  private let directories = TemporaryDirectory()
  private let storages = Mutex<[String: CredentialsDirectoryStorage]>([:])

  private func name(_ key: ItemKey) -> String? {
    key.attributes[key.kind == .credentials ? "label" : "username"]
  }

  private func path(_ service: String) -> String { "\(directories.path)/\(service)" }

  /// Returns the storage of a service, whose directory isn't empty from the beginning.
  private func storage(_ service: String) -> CredentialsDirectoryStorage {
    storages.withLock { storages in
      if let known = storages[service] { return known }
      #expect(throws: Never.self) {
        try FileManager.default.createDirectory(
          atPath: path(service), withIntermediateDirectories: false)
        try directories.write("no secret", "\(service)/.writer")
      }
      let new = CredentialsDirectoryStorage(service: service, directory: path(service))
      storages[service] = new
      return new
    }
  }

  func save(_ item: SecureItem, mode: SaveMode) throws(SecureStorageError) {
    try validate(item)
    if Cancellation.isCurrentCancelled { throw error(.canceled, during: .save) }
    guard let service = item.key.attributes["service"], let name = name(item.key) else {
      throw error(.other, during: .save)
    }
    _ = storage(service)
    #expect(throws: Never.self) {
      let content = item.secret?.withUnsafeBytes { Data($0) } ?? Data()
      try directories.write(content, "\(service)/.new")
      try directories.rename("\(service)/.new", to: "\(service)/\(name)")
    }
  }

  func items(matching query: ItemQuery) throws(SecureStorageError) -> [SecureItem] {
    guard let service = query.key?.attributes["service"] ?? query.attributes["service"] else {
      return []
    }
    return try storage(service).items(matching: query)
  }

  func removeItems(matching query: ItemQuery) throws(SecureStorageError) -> Int {
    if Cancellation.isCurrentCancelled { throw error(.canceled, during: .remove) }
    let keys = try items(matching: query).map(\.key)
    for key in keys {
      guard let service = key.attributes["service"], let name = name(key) else { continue }
      unlink("\(path(service))/\(name)")
    }
    return keys.count
  }

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) throws(SecureStorageError) -> StorageSubscription {
    guard let service = query?.attributes["service"] else { throw error(.other, during: .observe) }
    return try storage(service).observe(query, observer)
  }
}
#endif
