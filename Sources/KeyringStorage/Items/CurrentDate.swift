// SPDX-License-Identifier: Apache-2.0

package import KeyringPlatform

/// The date by which values expire, which a test can replace.
package enum CurrentDate {
  /// A closure that returns the date of the current task, or `nil` for that of the system.
  @TaskLocal package static var source: (@Sendable () -> Date)?

  package static var now: Date { source?() ?? Date() }
}
