// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct DoctorReportTests {
  private func diagnosis(_ code: SecureStorageError.Code?) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: "Storage")
    diagnosis.protection = .keyring
    diagnosis.add("bus", "unix:path=/run/bus")
    diagnosis.add("encryption", "None.", recoverySuggestion: "Take another.")
    if let code {
      diagnosis.add("x", SecureStorageError(code, operation: .diagnose, backendName: "Storage"))
    }
    return diagnosis
  }

  @Test func `a report has a line for each finding`() {
    #expect(
      DoctorReport(diagnosis(.locked)).lines.map { $0.prefix(36) } == [
        "ok       bus         unix:path=/run/", "notice   encryption  None. Take anot",
        "failure  x           The keyring is ", "ok       protection  keyring",
      ])
  }

  @Test(arguments: [
    (nil, nil), (SecureStorageError.Code.locked, ToolStatus.locked), (.noSessionBus, .unreachable),
  ])
  func `the exit status depends on the failure`(
    code: SecureStorageError.Code?, status: ToolStatus?
  ) {
    #expect(DoctorReport(diagnosis(code)).status == status)
  }

  @Test func `the JSON text is one line with all findings`() throws {
    let text = try DoctorReport(diagnosis(.locked)).json()
    #expect(!text.contains("\n"))
    let content = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let object = try #require(content as? [String: Any])
    #expect(object["failure"] as? String == "locked" && object["storage"] as? String == "Storage")
    #expect(object["protection"] as? String == "keyring")
    let findings = try #require(object["findings"] as? [[String: String]])
    #expect(findings.map { $0["state"] } == ["ok", "notice", "failure"])
    #expect(
      findings[1]["recoverySuggestion"] == "Take another."
        && findings[0]["recoverySuggestion"] == nil)
  }
}
