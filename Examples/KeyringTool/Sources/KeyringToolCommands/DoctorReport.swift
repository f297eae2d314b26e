import FoundationEssentials
public import Keyring

/// What is said of a storage, for a person and for a script.
public struct DoctorReport: Sendable {
  private let diagnosis: StorageDiagnosis

  /// Makes a report.
  ///
  /// - Parameter diagnosis: What was found out.
  public init(_ diagnosis: StorageDiagnosis) {
    self.diagnosis = diagnosis
  }

  /// A line for each finding, and what to do about it.
  public var lines: [String] {
    let findings = diagnosis.findings
    let width = findings.map(\.subject.count).max() ?? 0
    return findings.map { finding in
      let state = finding.state.rawValue
      let advice = finding.advice.map { " \($0)" } ?? ""
      return
        "\(state.padded(to: 7))  \(finding.subject.padded(to: width))  \(finding.text)\(advice)"
        .printable
    }
  }

  /// The findings as one JSON object, with the code of the failure if there is one.
  ///
  /// - Returns: The JSON, in one line.
  /// - Throws: Nothing in practice.
  public func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(Content(diagnosis)), as: UTF8.self)
  }

  /// The exit status: 0 when secrets can be stored, 2 when the storage is locked and cannot ask, 1
  /// when they cannot be stored for another reason.
  public var status: Int32 {
    switch diagnosis.failure?.code {
    case nil: 0
    case .locked: 2
    default: 1
    }
  }

  private struct Content: Encodable {
    struct Finding: Encodable {
      let storage, subject, state, text: String
      let advice: String?
    }

    let storage: String
    let failure: String?
    let findings: [Finding]

    init(_ diagnosis: StorageDiagnosis) {
      storage = diagnosis.storage
      failure = diagnosis.failure?.code.rawValue
      findings = diagnosis.findings.map {
        Finding(
          storage: $0.storage, subject: $0.subject, state: $0.state.rawValue, text: $0.text,
          advice: $0.advice)
      }
    }
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
