// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Keyring
import KeyringStorage

/// Observes the secrets in a directory until the input ends, and prints each event and what can be read after it.
func follow(_ directory: String, service: String) throws {
  let storage = CredentialsDirectoryStorage(service: service, directory: directory)
  let key = ItemKey.password(service: service, account: "token")
  let observation = try storage.observe(.key(key)) { event in
    do throws(SecureStorageError) {
      tell("\(event): \(try storage.password(for: key) ?? "absent")")
    } catch {
      tell("\(event): \(error.code)")
    }
  }
  tell("observing \(try storage.password(for: key) ?? "absent")")
  while readLine() != nil {}
  observation.cancel()
}
#endif
