// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Testing

extension PrivateBus {
  /// Returns the process that provides the Secret Service.
  func providerProcess() throws -> Int32 {
    let bus = "org.freedesktop.DBus"
    let (_, output) = try Program(
      "gdbus",
      ["call", "--session", "--dest", bus, "--object-path", "/", "--method"]
        + ["\(bus).GetConnectionUnixProcessID", "org.freedesktop.secrets"],
      environment: environment
    ).finish()
    // The answer is "(uint32 1234,)".
    let number = String(decoding: output, as: UTF8.self).split(separator: " ").last?
      .prefix(while: \.isNumber)
    return try #require(number.flatMap { Int32($0) }, "no process provides the Secret Service")
  }
}
#endif
