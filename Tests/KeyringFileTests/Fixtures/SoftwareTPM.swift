// SPDX-License-Identifier: Apache-2.0

#if EncryptedFile && os(Linux)
import Foundation
import TestPrograms
import Testing

/// A TPM 2.0 in software, which is what a machine has after it has started.
///
/// Its state is in a directory, and outlasts the object like that of a real TPM outlasts a restart.
struct SoftwareTPM {
  private let program: Program
  /// The variable that tells systemd-creds where the TPM is.
  let environment: [String: String]

  static let isInstalled = ["/usr/bin/swtpm", "/usr/bin/systemd-creds"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  init(stateIn directory: String) throws {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // The library that talks to the TPM uses a port and the next one, which may be taken.
    for _ in 0..<20 {
      let port = Int.random(in: 20_000..<32_000)
      let program = try Program(
        "swtpm",
        [
          "socket", "--tpm2", "--tpmstate", "dir=\(directory)", "--server", "type=tcp,port=\(port)",
          "--ctrl", "type=tcp,port=\(port + 1)", "--flags", "not-need-init,startup-clear",
        ], complaints: .nullDevice)
      guard try Self.measureFirmware(port) else {
        try program.end()
        continue
      }
      self.program = program
      environment = ["SYSTEMD_TPM2_DEVICE": "swtpm:host=127.0.0.1,port=\(port)"]
      return
    }
    throw CocoaError(.featureUnsupported)
  }

  /// Extends a PCR, which the firmware of a machine does when it starts, and waits for the TPM.
  ///
  /// systemd-creds warns about a TPM whose PCRs are all zero, because no firmware uses it.
  private static func measureFirmware(_ port: Int) throws -> Bool {
    // TPM2_PCR_Extend of PCR 7 with a SHA-256 of zeros and ones, authorized by an empty password
    let command =
      "8002 00000041 00000182 00000007 00000009 40000009 0000 00 0000 00000001 000b"
      + String(repeating: " 01", count: 32)
    let bytes = command.filter { $0 != " " }
    let escaped = stride(from: 0, to: bytes.count, by: 2).map { offset in
      "\\x" + bytes.dropFirst(offset).prefix(2)
    }.joined()
    // A program that isn't the TPM of this port gives no such answer.
    let script = """
      for attempt in {1..200}; do
        if { exec 3<>/dev/tcp/127.0.0.1/\(port); } 2>/dev/null; then
          printf '\(escaped)' >&3
          head -c 10 <&3 | od -An -tx1
          exit
        fi
        read -t 0.05 <> <(:)
      done
      """
    let (_, output) = try Program("timeout", ["20", "bash", "-c", script]).finish()
    let answer = String(decoding: output, as: UTF8.self).filter { !$0.isWhitespace }
    return answer.hasPrefix("8002") && answer.hasSuffix("00000000")
  }

  /// Ends the TPM, as a machine that is switched off.
  func end() throws { try program.end() }

  /// The version of systemd-creds, such as 257.
  fileprivate static let version: Int? = {
    let output = try? Program("systemd-creds", ["--version"]).finish().output
    return Int(
      String(decoding: output ?? Data(), as: UTF8.self).split(separator: " ").dropFirst().first
        ?? "")
  }()
}

extension Trait where Self == ConditionTrait {
  /// Skips the test, and gives the reason, if systemd-creds doesn't use the TPM in software.
  static var withSoftwareTPM: Self {
    .enabled(
      if: geteuid() == 0 || SoftwareTPM.version.map { $0 < 256 } == true,
      "systemd-creds 256 and later ask a service to use the TPM, unless root runs them")
  }
}
#endif
