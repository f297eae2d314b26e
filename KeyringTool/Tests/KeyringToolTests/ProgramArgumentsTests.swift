// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Arguments that aren't UTF-8, which a shell writes as `$'\xe9'`.
@Suite(.needs("bash")) struct ProgramArgumentsTests {
  private let directory = TemporaryDirectory()

  private func bash(_ script: String) throws -> Program.Result {
    try Program.run("bash", ["-c", "cd '\(directory.path)'; \(script)", Program.toolPath])
  }

  @Test func `a program gets its arguments byte for byte`() throws {
    let storage = "--storage file:f --key-file key --service s"
    let result = try bash(
      """
      echo A=1 >.env; echo 1 | "$0" set --account a \(storage)
      "$0" run --env-file .env -- printf %s $'caf\\xe9' | od -An -tx1
      "$0" run --file a \(storage) -- sh -c 'printf %s "$1"' sh $'caf\\xe9' | od -An -tx1
      """)
    #expect(result.output == " 63 61 66 e9\n 63 61 66 e9\n", "\(result)")
  }

  /// Otherwise, a new file would get what is left.
  @Test func `a file behind a link whose name isn't UTF-8 stays as it is`() throws {
    let result = try bash(
      """
      echo A=1 >$'\\xe9'; chmod 600 $'\\xe9'; ln -s $'\\xe9' .env
      "$0" import .env s --remove-source --storage file:f --key-file key; echo $?; cat .env; test -e $'\\xef\\xbf\\xbd'; echo $?
      """)
    #expect(
      result.output == "1\nA=1\n1\n" && result.errors.contains("UTF-8")
        && result.errors.contains("Nothing was written"), "\(result)")
  }

  /// Otherwise, another file or item would be used.
  @Test(arguments: [
    "list --storage file:$'f\\xe9' --key-file key", "list --storage file:f --key-file $'k\\xe9'",
    "set s $'a\\xe9'", "set -- s $'a\\xe9'", "set s a --label $'l\\xe9'",
    "run --env-file $'.env\\xe9' -- true",
  ])
  func `other arguments that aren't UTF-8 are refused`(arguments: String) throws {
    let result = try bash("echo s3cret | \"$0\" \(arguments)")
    #expect(result.status == 64 && result.errors.contains("isn't UTF-8"), "\(result)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
  }
}
