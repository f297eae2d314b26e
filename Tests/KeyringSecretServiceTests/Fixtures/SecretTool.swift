// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

/// The command-line client of libsecret.
struct SecretTool: OtherProgram {
  /// Returns the secret of the item with these attributes, byte for byte.
  static func lookup(_ attributes: [String: String], on bus: PrivateBus? = nil) throws -> String? {
    let (status, output) = try run(["lookup"], attributes, on: bus)
    return status == 0 ? String(decoding: output, as: UTF8.self) : nil
  }

  /// Stores an item on a bus, or in the private session.
  static func store(
    _ secret: String, label: String, _ attributes: [String: String], on bus: PrivateBus? = nil
  ) throws {
    let command = ["store", "--label", label]
    try #require(run(command, attributes, input: secret, on: bus).status == 0)
  }

  static func clear(_ attributes: [String: String]) throws {
    try #require(run(["clear"], attributes).status == 0)
  }

  private static func run(
    _ command: [String], _ attributes: [String: String], input: String = "",
    on bus: PrivateBus? = nil
  ) throws -> (status: Int32, output: Data) {
    func run() throws -> (status: Int32, output: Data) {
      try Program(
        "secret-tool", command + attributes.flatMap { [$0.key, $0.value] },
        environment: bus?.environment ?? [:]
      ).finish(input: Data(input.utf8))
    }
    let result = try run()
    // KWallet 5.103 can't use the keys of about one session in 256.
    return Provider.current == .kwallet && result.status != 0 ? try run() : result
  }

  func set(_ password: String, service: String, username: String) throws {
    try Self.store(password, label: "Theirs", ["service": service, "username": username])
  }

  func get(service: String, username: String) throws -> String? {
    try Self.lookup(["service": service, "username": username])
  }

  func remove(service: String, username: String) throws {
    try Self.clear(["service": service, "username": username])
  }
}
#endif
