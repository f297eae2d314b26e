// SPDX-License-Identifier: Apache-2.0

import AppleKeychainModel
import Testing

/// Gives each test a device of its own.
struct FreshDevice: SuiteTrait, TestTrait, TestScoping {
  let isRecursive = true

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await KeychainModel.$current.withValue(KeychainModel()) { try await function() }
  }
}

extension Trait where Self == FreshDevice {
  static var freshDevice: Self { Self() }
}
