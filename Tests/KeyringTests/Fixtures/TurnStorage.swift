// SPDX-License-Identifier: Apache-2.0

import Keyring
import KeyringStorage
import KeyringTesting
import TestPrograms

/// The kinds of storage that let callers take turns.
enum TurnStorage: CaseIterable {
  case memory, faulty, cached, layered, firstAvailable, ofAnAuthor

  var new: any SecureStorage {
    switch self {
    case .memory: InMemoryStorage()
    case .faulty: FaultyStorage()
    case .cached: InMemoryStorage().cached()
    case .layered: LayeredStorage([.writing(InMemoryStorage()), .reading(InMemoryStorage())])
    case .firstAvailable: FirstAvailableStorage([InMemoryStorage()], remembering: .nowhere)
    case .ofAnAuthor: AuthorsStorage()
    }
  }
}

/// A storage of an author who has written nothing for turns.
struct AuthorsStorage: BlockingStorage, ForwardingStorage {
  let base = InMemoryStorage()
}

/// A storage that reports none of its changes to its observers.
struct SilentlyChangingStorage: ImmediateStorage, ForwardingStorage, ObservableStorage {
  let base = InMemoryStorage()

  func observe(
    _ query: ItemQuery?, _ observer: @escaping @Sendable (StorageEvent) -> Void
  ) -> StorageSubscription {
    StorageSubscription {}
  }
}
