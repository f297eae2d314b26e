import Glibc
import Keyring

// This library as a contender:
//
//   contender WORK [ARGUMENT ...]
//   contender fill SERVICE FROM TO COLLECTION
//
// Every line of input is a number of operations to perform. They are answered with a line: the
// nanoseconds that each of them took. `fill` stores passwords for the others to read, and ends.
SecureStorageDefaults.service = Sample.service
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  if arguments.first == "fill" {
    try fill(arguments.dropFirst())
  } else {
    var work = try work(named: arguments.first ?? "", arguments.dropFirst())
    while let line = readLine() {
      guard let count = Int(line) else { throw Failure("\"\(line)\" is no number of operations") }
      answer(try measure(&work, times: count))
    }
  }
} catch {
  let message = "contender \(arguments.joined(separator: " ")): \(error)\n"
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(1)
}
