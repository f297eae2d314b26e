#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Whether this process runs tests.
package enum TestProcess {
  /// True under `swift test` and Xcode, whichever of Swift Testing and XCTest runs the tests.
  package static let isCurrent = isTestBundle || hasLoadedTestLibrary

  private static var isTestBundle: Bool {
    CommandLine.arguments.first?.hasSuffix(".xctest") ?? false
  }

  /// Symbols of Swift Testing and, on Apple's systems, of XCTest.
  private static var hasLoadedTestLibrary: Bool {
    guard let program = dlopen(nil, RTLD_NOW) else { return false }
    defer { dlclose(program) }
    let symbols = ["swt_abiv0_getEntryPoint", "OBJC_CLASS_$_XCTestCase"]
    return symbols.contains { dlsym(program, $0) != nil }
  }
}
