// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Dispatch
import Glibc
import Keyring
import KeyringStorage

/// Prints the pair that is there, rewrites it once, and after a line of input again and again.
///
/// Each pair has a number, in the login and in the password. The function prints a line for the
/// pair that it finds, and for every pair that it writes, once the write is acknowledged.
func rewriteForever(in storage: any SecureStorage, service: String) throws {
  let account = storage[.credentials(service: service, label: "account"), as: .credential]
  let found = try account.read()
  tell("found \(found?.login ?? "none") \(found?.password ?? "none")")
  try writeForever(after: found?.login) { try account.write(Credential(login: $0, password: $0)) }
}

/// Does the same with a password, which most keyrings replace in place.
func replaceForever(in storage: any SecureStorage, service: String) throws {
  let password = storage[.password(service: service, account: "account")]
  let found = try password.read()
  tell("found \(found ?? "none")")
  try writeForever(after: found) { try password.write($0) }
}

private func writeForever(after found: String?, write: (String) throws -> Void) throws {
  var number = found.flatMap { Int($0) } ?? 0
  func writeNext() throws {
    number += 1
    try write("\(number)")
    tell("saved \(number)")
  }
  try writeNext()
  if readLine() == nil { return }
  while true { try writeNext() }
}

/// Reads a password through a cache all the time, and prints it after each line of input.
func readForever(from storage: some ObservableStorage, service: String) throws {
  let cached = storage.cached(for: nil)
  let key = ItemKey.password(service: service, account: "account")
  DispatchQueue(label: "KeyringWorker").async {
    while true {
      _ = try? cached.password(for: key)
      usleep(500)
    }
  }
  while readLine() != nil { tell(try cached.password(for: key) ?? "none") }
}

/// Writes a line at once, because a buffer is lost when the process is killed.
func tell(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}
#endif
