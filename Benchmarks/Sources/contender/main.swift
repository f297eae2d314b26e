// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc
import Keyring

// Runs this library as a contender:
//
//   contender [count] WORK [ARGUMENT ...]
//   contender fill COUNT
//   contender fill-file PATH [COUNT]
//
// Each line of input is a number of operations to perform. The answer is a line with the nanoseconds that
// each operation took. With `count`, it's an empty line, and a mark stands before and after the operations. `fill`
// and `fill-file` store passwords for the others to read, and end. The works on files need the trait Files.
SecureStorageDefaults.service = Sample.service
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch arguments.first {
  case "fill": try Sample.fill(try number(arguments.last))
  #if Files
  case "fill-file": try SampleFile(arguments.dropFirst()).fill()
  #endif
  case "count": try contend(work(arguments.dropFirst()), counts: true)
  default: try contend(work(arguments[...]))
  }
} catch {
  let message = "contender \(arguments.joined(separator: " ")): \(error)\n"
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(1)
}

/// Returns the work that the arguments name, as the driver's catalog does.
func work(_ arguments: ArraySlice<String>) throws -> any Work {
  let rest = arguments.dropFirst()
  let count = rest.first.flatMap(Int.init) ?? 1
  return switch arguments.first {
  case "read": PropertyRead()
  case "absent": PropertyRead(isAbsent: true)
  case "write": PropertyWrite()
  case "create": try PropertiesInTurn(.create, count: count)
  case "remove": try PropertiesInTurn(.remove, count: count)
  case "query": Query(count: count)
  case "settings": SettingsRead()
  case "key-coding": KeyCoding()
  case "credential-coding": try CredentialCoding()
  case "memory-read": try PropertyInMemoryRead()
  case "memory-write": PropertyInMemoryWrite()
  case "dictionary-read": DictionaryRead()
  case "cached-read": try CachedRead()
  case "properties": PropertyListRead(count: count)
  case "tracking": Tracking(count: count)
  #if Files
  case "file-read": FileRead(file: try SampleFile(rest))
  case "file-write": FileWrite(file: try SampleFile(rest))
  case "import-dry-run": try Import(path: rest.last, into: .nothing)
  case "import-to-memory": try Import(path: rest.last, into: .memory)
  case "import-to-keyring": try Import(path: rest.last, into: .keyring)
  #endif
  default: throw Failure("there is no such work")
  }
}
