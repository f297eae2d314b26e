// SPDX-License-Identifier: Apache-2.0

import Contending
import Glibc
import Keyring
import KeyringStorage

// Uses a cluster of etcd, which Scripts/private-cluster describes in the environment:
//
//   fleet-contender fill FROM TO
//   fleet-contender WORK
//   fleet-contender rotate
//   fleet-contender first-cached-read
//   fleet-contender follow COUNT
//
// `fill` creates the namespace and items, and ends. For a work, each line of input is a number of operations,
// and the answer is a line with the nanoseconds that each operation took. For `rotate`, each line is a new
// value of an item, and the answer is the time at which its write began, in nanoseconds of the monotonic clock.
// `first-cached-read` prints how many nanoseconds the first read of a cache takes, which lists all items, and the
// memory of the process in KiB. `follow` prints "ready" and then, for each of COUNT storages, its number, each new
// value of that item, and the time at which the storage had it. It ends with its input.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
  switch arguments.first {
  case "fill": try await Sample.fill(try number(arguments[1])..<number(arguments.last))
  case "first-cached-read": try await readFirst()
  case "rotate": try await rotate()
  case "follow": try await follow(count: try number(arguments.last))
  default: try contend(work(named: arguments.first ?? ""))
  }
} catch {
  let message = "fleet-contender \(arguments.joined(separator: " ")): \(error)\n"
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  exit(1)
}

/// Returns the work with a name of the driver's catalog.
func work(named name: String) throws -> any Work {
  switch name {
  case "read": Read()
  case "write": Write()
  case "read-cached": try CachedRead()
  case "read-dictionary": DictionaryRead()
  default: throw Failure("there is no work \"\(name)\"")
  }
}
