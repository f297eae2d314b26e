// SPDX-License-Identifier: Apache-2.0

import Keyring

struct Settings: Sendable {
  @Password("token", service: "example", storage: InMemoryStorage()) var token: Secret?
}

// Both overloads, the blocking one and the one with await
func write(_ settings: Settings) throws(SecureStorageError) {
  try settings.$token.write(Secret("s3cret"))
}
func read(_ settings: Settings) async throws(SecureStorageError) -> Secret? {
  try await settings.$token.read()
}

let settings = Settings()
try write(settings)
print(try await read(settings) == settings.token, SecretServiceStorage())
