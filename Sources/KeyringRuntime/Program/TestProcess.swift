// SPDX-License-Identifier: Apache-2.0

internal import KeyringPlatform

/// A check for a process that runs tests.
package enum TestProcess {
  /// Whether the process runs tests.
  ///
  /// It's `true` under `swift test` and Xcode, with both Swift Testing and XCTest.
  package static let isCurrent = isTestBundle || hasLoadedTestLibrary

  private static var isTestBundle: Bool {
    CommandLine.arguments.first?.hasSuffix(".xctest") ?? false
  }

  /// Whether the process has symbols of Swift Testing or, on Apple platforms, of XCTest.
  private static var hasLoadedTestLibrary: Bool {
    guard let program = dlopen(nil, RTLD_NOW) else { return false }
    defer { dlclose(program) }
    let symbols = ["swt_abiv0_getEntryPoint", "OBJC_CLASS_$_XCTestCase"]
    return symbols.contains { dlsym(program, $0) != nil }
  }
}
