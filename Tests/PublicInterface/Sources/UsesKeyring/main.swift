// SPDX-License-Identifier: Apache-2.0

import Keyring

struct Settings: Sendable {
  @Password("token", service: "example", storage: InMemoryStorage()) var token: Secret?
}

// Both overloads, the blocking one and the one with await
func write(_ settings: Settings) throws(SecureStorageError) {
  try settings.$token.write(Secret("s3cret"))
}

let settings = Settings()
try write(settings)
print(try await settings.$token.read() == settings.token, SecretServiceStorage())
