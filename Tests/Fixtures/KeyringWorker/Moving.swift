// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import KeyringStorage

/// Moves an item to another key after a line of input, as the article MovingSecrets shows, and prints what is there.
func moveItemAtStart(in storage: any SecureStorage, service: String) throws {
  let newKey = ItemKey.password(service: service, account: "new")
  tell("ready")
  if readLine() == nil { return }
  try withSecureStorage(storage) { () throws in
    try moveItem(from: .password(service: service, account: "old"), to: newKey)
  }
  tell(try storage.password(for: newKey) ?? "nothing")
}

private func moveItem(from oldKey: ItemKey, to newKey: ItemKey) throws {
  let storage = SecureStorageDefaults.currentStorage
  guard oldKey != newKey, var item = try storage.item(for: oldKey, details: .all) else { return }
  item.key = newKey
  item.label = nil  // The storage makes a label from the new key.
  do {
    try storage.save(item, mode: .add)
  } catch .itemAlreadyExists {
    // An earlier run, or another program, has saved it. If it's another secret, both items stay.
  } catch {
    throw error
  }
  let found = try storage.item(for: newKey, details: .all)
  guard (found?.secret, found?.attributes) == (item.secret, item.attributes) else { return }
  try storage.remove(oldKey)
}
#endif
