// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

@testable import KeyringSecretService

/// A `dbus-monitor` that sees every message to the Secret Service on a bus, and this package's signals if a
/// test asks for them.
final class BusMonitor {
  private let program: Program
  private let bus: PrivateBus?
  private let end = "end-\(UUID().uuidString)"

  /// Starts the program, and waits until it sees messages.
  ///
  /// - Parameters:
  ///   - bus: The bus, or `nil` for that of the private session.
  ///   - signals: Whether the monitor also sees this package's signals.
  /// - Throws: An error if the program doesn't start.
  init(on bus: PrivateBus? = nil, signals: Bool = false) throws {
    self.bus = bus
    let rules =
      ["type='method_call',path_namespace='/org/freedesktop/secrets'"]
      + (signals ? ["type='signal',interface='swift_keyring.Item'"] : [])
    program = try Program(
      "dbus-monitor", ["--session", "--monitor"] + rules,
      environment: bus?.environment ?? [:])
    // A monitor gives up the name that it had as an ordinary connection.
    while try !program.readLine().contains("NameLost") {}
  }

  /// Ends the program, and returns the names of the methods that were called, and of the signals.
  ///
  /// - Returns: The names, in the order in which the messages were sent.
  /// - Throws: An error if the program doesn't end.
  func finish() throws -> [String] {
    // The monitor sees messages in the order in which they are sent, so this is the last one.
    let session = try openSession(at: bus?.address)
    _ = try session.send([.readAlias(end)])
    var methods: [String] = []
    while true {
      let line = try program.readLine()
      if line.contains(end) { break }
      if let name = line.split(separator: "member=").dropFirst().first,
        line.hasPrefix("method") || line.hasPrefix("signal")
      {
        methods.append(String(name))
      }
    }
    try program.end()
    return methods.dropLast()
  }
}
#endif
