// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Foundation
import TestPrograms
import Testing

/// A program that runs beside the tests.
@Suite struct ProgramTests {
  @Test func `a dead program is gone although a program of its own has its files`() throws {
    var program: Program? = try Program("sh", ["-c", "sleep 60 >&- & echo $$ $!; wait"])
    let numbers = try #require(program).readLine().split(separator: " ").compactMap { Int32($0) }
    try #require(numbers.count == 2)
    defer { kill(numbers[1], SIGKILL) }
    program = nil
    #expect(kill(numbers[0], 0) != 0)
    #expect(kill(numbers[1], 0) == 0)
  }

  @Test func `a program that prints no line isn't waited for`() throws {
    let ended = try Program("sh", ["-c", "printf 'no end'"])
    #expect(throws: POSIXError(.EPIPE)) { try ended.readLine() }
    let silent = try Program("cat")
    #expect(throws: POSIXError(.ETIMEDOUT)) { try silent.readLine(patience: 10) }
    try silent.writeLine("line")
    #expect(try silent.readLine() == "line")
  }
}
#endif
