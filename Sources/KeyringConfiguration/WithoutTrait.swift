// SPDX-License-Identifier: Apache-2.0

#if !Configuration
/// A provider of swift-configuration that reads secret values from any storage.
@available(
  *, unavailable,
  message: "turn on the trait: .package(url: …, traits: [.defaults, \"Configuration\"])"
)
public struct SecureStorageProvider {}
#endif
