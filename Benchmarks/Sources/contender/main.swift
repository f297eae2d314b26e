// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc
import Keyring

// Runs this library as a contender:
//
//   contender WORK [ARGUMENT ...]
//   contender fill SERVICE FROM TO COLLECTION
//   contender fill-file PATH KIND-OF-KEY
//   contender pending COUNT
//
// Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that
// each operation took. `fill` and `fill-file` store passwords for the others to read, and end.
SecureStorageDefaults.service = Sample.service
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch arguments.first {
  case "fill": try fill(arguments.dropFirst())
  case "fill-file": try SampleFile(arguments.dropFirst()).fill()
  case "pending": try pending(arguments.dropFirst())
  default:
    var work = try work(named: arguments.first ?? "", arguments.dropFirst())
    while let line = readLine() {
      guard let count = Int(line) else { throw Failure("\"\(line)\" isn't a number of operations") }
      answer(try measure(&work, times: count))
    }
  }
} catch {
  let message = "contender \(arguments.joined(separator: " ")): \(error)\n"
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(1)
}
