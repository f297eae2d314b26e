// SPDX-License-Identifier: Apache-2.0

/// The surroundings in which a value was read, and in which its readers are notified.
protocol ReadingContext: AnyObject, Sendable {
  /// Runs a closure as if it were called where the value was read.
  func run(_ body: () -> Void)
}
