// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import Testing

/// A bus that can't start a keyring, with dbus-broker's error: `Tests/Fixtures/fake-bus.py`.
final class FakeBus {
  private let path = NSTemporaryDirectory() + UUID().uuidString
  private let program: Program

  /// Starts the bus.
  ///
  /// - Parameter names: The names that the bus lists as activatable.
  /// - Throws: An error if the bus doesn't start.
  init(activatable names: String...) throws {
    program = try .script("fake-bus.py", [path] + names)
    try #require(program.readLine() == "ready", "the fake bus did not start")
  }

  deinit {
    _ = try? program.end()
    unlink(path)
  }

  var storage: SecretServiceStorage {
    SecretServiceStorage(options: .init(busAddress: "unix:path=\(path)"))
  }
}
#endif
