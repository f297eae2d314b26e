// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc
import Keyring

// Runs this library as a contender:
//
//   contender [count] WORK [ARGUMENT ...]
//   contender fill SERVICE FROM TO COLLECTION
//   contender fill-file PATH KIND-OF-KEY
//   contender pending COUNT
//
// Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that
// each operation took. With `count`, it's an empty line, and a mark stands before and after the operations. `fill` and `fill-file` store passwords for the others to read, and end.
SecureStorageDefaults.service = Sample.service
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch arguments.first {
  case "fill": try fill(arguments.dropFirst())
  #if EncryptedFile
  case "fill-file": try SampleFile(arguments.dropFirst()).fill()
  #endif
  case "pending": try pending(arguments.dropFirst())
  case "count": try contend(arguments.dropFirst()) { try performBetweenMarks(&$0, times: $1) }
  default: try contend(arguments[...]) { answer(try measure(&$0, times: $1)) }
  }
} catch {
  let message = "contender \(arguments.joined(separator: " ")): \(error)\n"
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(1)
}

/// Performs the work that the arguments name, as often as each line of input says.
func contend(
  _ arguments: ArraySlice<String>, perform: (inout any Work, Int) throws -> Void
) throws {
  var work = try work(named: arguments.first ?? "", arguments.dropFirst())
  while let line = readLine() {
    guard let count = Int(line) else { throw Failure("\"\(line)\" isn't a number of operations") }
    try perform(&work, count)
  }
}
