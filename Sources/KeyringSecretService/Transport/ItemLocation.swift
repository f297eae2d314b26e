// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringStorage
internal import Synchronization

/// The key of an item, and the collection that it's in.
struct ItemLocation: Hashable {
  let collection: SecretServiceStorage.Collection
  let key: ItemKey
}
#endif
