// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
public import KeyringStorage

/// A report on the diagnosis of a storage, for the user or a script.
public struct DoctorReport: Sendable {
  private let diagnosis: StorageDiagnosis

  /// Creates a report.
  ///
  /// - Parameter diagnosis: The diagnosis of the storage.
  public init(_ diagnosis: StorageDiagnosis) {
    self.diagnosis = diagnosis
  }

  /// A line for each finding, with a suggestion if there is one, and a line for the protection.
  public var lines: [String] {
    var diagnosis = diagnosis
    diagnosis.add("protection", "\(diagnosis.protection)")
    let findings = diagnosis.findings
    let width = findings.map(\.subject.count).max() ?? 0
    return findings.map { finding in
      let state = finding.state.rawValue
      // The text has the cause.
      let recoverySuggestion =
        SecureStorageError.known(finding.recoverySuggestion).map { " \($0)" } ?? ""
      return
        "\(state.padded(to: 7))  \(finding.subject.padded(to: width))  \(finding.text)\(recoverySuggestion)"
        .printable
    }
  }

  /// Returns the findings as one JSON object, with the code of the failure if there is one.
  ///
  /// - Returns: The JSON on one line.
  /// - Throws: An encoding error, which doesn't happen in practice.
  public func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(Content(diagnosis)), as: UTF8.self)
  }

  /// The exit status of the program.
  ///
  /// It's `nil`, and therefore 0, if secrets can be stored.
  public var status: ToolStatus? { diagnosis.failure.map { ToolStatus($0) } }

  private struct Content: Encodable {
    struct Finding: Encodable {
      let storage, subject, state, text: String
      let recoverySuggestion: String?
    }

    let storage: String
    let failure: String?
    let protection: String
    let findings: [Finding]

    init(_ diagnosis: StorageDiagnosis) {
      storage = diagnosis.storage
      failure = diagnosis.failure?.code.rawValue
      protection = "\(diagnosis.protection)"
      findings = diagnosis.findings.map {
        Finding(
          storage: $0.storage, subject: $0.subject, state: $0.state.rawValue, text: $0.text,
          recoverySuggestion: $0.recoverySuggestion)
      }
    }
  }
}
