// SPDX-License-Identifier: Apache-2.0

import KeyringStorage
import KeyringToolCommands
import Testing

@Suite struct ToolStatusTests {
  /// Scripts depend on these numbers.
  @Test func `each status keeps its number`() {
    #expect(ToolStatus.allCases.map(\.rawValue) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 64, 1])
  }

  @Test(arguments: [
    (SecureStorageError.Code.locked, ToolStatus.locked), (.userCanceled, .locked),
    (.itemNotFound, .notFound), (.collectionNotFound, .notFound),
    (.itemAlreadyExists, .alreadyExists), (.collectionAlreadyExists, .alreadyExists),
    (.noSessionBus, .unreachable), (.noProvider, .unreachable), (.connectionLost, .unreachable),
    (.timedOut, .timedOut), (.accessDenied, .denied), (.readOnly, .denied), (.wrongKey, .denied),
    (.keyNotFound, .denied), (.undecodable, .damaged), (.damaged, .damaged),
    (.verificationFailed, .damaged), (.sourceChanged, .damaged), (.ambiguous, .ambiguous),
    (.invalidArgument, .failed), (.other, .failed),
  ])
  func `an error has the status of its kind`(code: SecureStorageError.Code, status: ToolStatus) {
    let error = SecureStorageError(code, operation: .read, backendName: "Storage")
    #expect(ToolStatus(error) == status)
  }

  @Test func `the help describes each status`() throws {
    let help = try Program.tool(["--help"]).output
    let text = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for status in ToolStatus.allCases {
      #expect(text.contains(" \(status.rawValue) if "), "\(status)")
    }
    #expect(text.contains(ToolStatus.description))
  }
}
