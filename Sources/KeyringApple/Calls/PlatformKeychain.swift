// SPDX-License-Identifier: Apache-2.0

/// The Security framework, where there is one.
enum PlatformKeychain {
  // On Linux, a module of this name is an app's own.
  #if canImport(Darwin)
  static let calls: (any KeychainCalls)? = SystemKeychain(context: PlatformKeychain.context)
  #else
  static let calls: (any KeychainCalls)? = nil
  #endif
}
