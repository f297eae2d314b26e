// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Dispatch
import Keyring
import KeyringStorage

/// Uses a keyring that this program may unlock with a password from the terminal, and prints the outcome.
///
/// - Parameters:
///   - use: The operation.
///   - collection: The label of the collection, or "default".
///   - promptTimeout: The time for the questions.
func useKeyring(_ use: String, in collection: String, promptTimeout: Duration) {
  let storage = SecretServiceStorage(
    options: .init(
      collection: collection == "default" ? .default : .named(collection), interaction: .terminal,
      promptTimeout: promptTimeout))
  let key = ItemKey.password(service: "service", account: "account")
  do throws(SecureStorageError) {
    switch use {
    case "read": tell(try storage.password(for: key) ?? "nothing")
    case "reads": tell(readOften(storage, key))
    case "both":
      // A second question waits while the first one is answered.
      try? concurrently(2) { number in
        let storage = number == 0 ? storage : storage.collection(labeled: "Work")
        tell("\(number) \((try? storage.password(for: key)) ?? "nothing")")
      }
    case "save":
      try storage.setPassword("s3cret", for: key)
      tell("saved")
    default:
      try storage.unlock()
      tell("unlocked")
    }
  } catch {
    tell("error \(error.code) \(error.message) \(error.recoverySuggestion ?? "")")
  }
}

/// Reads an item in eight tasks and threads at the same time.
private func readOften(_ storage: SecretServiceStorage, _ key: ItemKey) -> String {
  let group = DispatchGroup()
  for number in 0..<4 {
    let other = ItemKey.password(service: "service", account: "\(number)")
    DispatchQueue(label: "\(number)").async(group: group) { _ = try? storage.password(for: key) }
    group.enter()
    Task {
      _ = try? await storage.password(for: other)
      group.leave()
    }
  }
  group.wait()
  return (try? storage.password(for: key)) ?? "nothing"
}
#endif
