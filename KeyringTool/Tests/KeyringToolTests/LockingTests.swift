// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of the program on a keyring that gets locked, which would disturb all other tests.
@Suite(
  .inPrivateSession,
  .enabled(
    if: ProcessInfo.processInfo.environment["KEYRING_TEST_LOCKS"] != nil,
    "no private session of its own: run .ci/check-keyring-tool"))
struct LockingTests {
  @Test func `a locked item is refused without a prompt`() throws {
    let item = ["--service", "locked", "--account", "me"]
    #expect(try Program.tool(["set"] + item, input: "s3cret").status == 0)
    #expect(try Program.tool(["unlock"]).status == 0)
    #expect(try Program.tool(["lock"]).status == 0)
    #expect(try Program.tool(["collections"]).output.contains("locked    Login  (default)"))
    for command in ["get", "set", "remove", "move"] {
      let to = command == "move" ? ["--to", "session"] : []
      let result = try Program.tool([command, "--no-prompt"] + item + to, input: "other")
      #expect(result.status == 2 && result.output.isEmpty)
      #expect(result.errors.contains("The keyring is locked. Unlock it"))
    }
    #expect(try Program.tool(["unlock", "--no-prompt"]).status == 2)
    // The prompt of the keyring isn't shown here, regardless of the options.
    for options in [[], ["--no-prompt"], ["--write"]] {
      let doctor = try Program.tool(["doctor"] + options)
      #expect(doctor.status == 2 && doctor.output.contains("is locked"))
    }
    let list = try Program.tool(["list", "--no-prompt", "--service", "locked"])
    #expect(list.status == 0 && list.output.hasSuffix("  locked\n"))
  }
}
