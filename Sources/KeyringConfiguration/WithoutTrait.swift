// SPDX-License-Identifier: Apache-2.0

#if !Configuration
public import KeyringStorage

// This declaration gives a helpful message to programs that use the module without its trait. A type can't conform to
// the protocol of providers, which isn't known here. The result of a function can have any type. Where nothing says
// which one, as in "let provider = SecureStorageProvider(…)", the compiler's message has the name of the parameter.

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Unavailable: swift-keyring was built without the trait Configuration.
@available(
  *, unavailable,
  message: "Turn on swift-keyring's trait in Package.swift: traits: [.defaults, \"Configuration\"]"
)
public func SecureStorageProvider<
  `Turn on swift-keyring's trait in Package.swift: traits: [.defaults, "Configuration"]`
>(
  _ storage: any SecureStorage, service: String, accessGroup: String? = nil, name: String? = nil
) -> `Turn on swift-keyring's trait in Package.swift: traits: [.defaults, "Configuration"]` {
  fatalError()
}
#endif
