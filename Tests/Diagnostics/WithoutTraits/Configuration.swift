// SPDX-License-Identifier: Apache-2.0

// The compiler must refuse each of these lines with these words: .ci/build-without-libsecret lets it compare them.

import Keyring
import KeyringConfiguration

/// The declarations of swift-configuration, which is missing without the trait.
protocol ConfigProvider {}

struct ConfigReader {
  init(provider: some ConfigProvider) {}
  init(providers: [any ConfigProvider]) {}
}

func read(_ storage: InMemoryStorage) {
  // expected-error@+1 {{Turn on swift-keyring's trait in Package.swift: traits: [.defaults, "Configuration"]}}
  _ = ConfigReader(providers: [SecureStorageProvider(storage, service: "org.example.app")])
  // expected-error@+1 {{Turn on swift-keyring's trait in Package.swift: traits: [.defaults, "Configuration"]}}
  _ = ConfigReader(provider: SecureStorageProvider(storage, service: "org.example.app"))
  // expected-error@+1 {{Turn on swift-keyring's trait in Package.swift: traits: [.defaults, "Configuration"]}}
  let provider = SecureStorageProvider(storage, service: "org.example.app")
  _ = ConfigReader(provider: provider)
}
