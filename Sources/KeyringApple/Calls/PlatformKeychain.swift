// SPDX-License-Identifier: Apache-2.0

/// The Security framework, where there is one.
enum PlatformKeychain {
  #if canImport(Security)
  static let calls: (any KeychainCalls)? = SystemKeychain(context: PlatformKeychain.context)
  #else
  static let calls: (any KeychainCalls)? = nil
  #endif
}
