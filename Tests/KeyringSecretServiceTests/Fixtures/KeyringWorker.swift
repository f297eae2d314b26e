// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

@testable import KeyringSecretService

/// Counts the items in the keyring that have these attributes, including those that readers skip.
func countStoredItems(_ attributes: [String: String]) throws -> Int {
  let session = try openSession()
  let search = MethodCall(
    ObjectPath("/org/freedesktop/secrets"), "org.freedesktop.Secret.Service", "SearchItems",
    [.strings(attributes)], answer: "(aoao)")
  let results = try session.send([search], until: Deadline(after: .seconds(25)))
  let answer = try #require(results.first).get()
  return answer.child(0).paths.count + answer.child(1).paths.count
}
#endif
