// SPDX-License-Identifier: Apache-2.0

// The compiler must refuse each of these lines with these words: .ci/build-without-libsecret lets it compare them.

import Keyring

// expected-error@+1 {{Turn on swift-keyring's trait in Package.swift: add .defaults to its traits}}
let storage = SecretServiceStorage(collection: .named("vault"))

func choose() {
  // expected-error@+1 {{Turn on swift-keyring's trait in Package.swift: add .defaults to its traits}}
  SecureStorageDefaults.storage = SecretServiceStorage(interaction: .never)
}
