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
  let key = ItemKey.credentials(service: service, label: "account")

  let found = try storage[key, as: .credential].read()
  tell("found \(found?.login ?? "none") \(found?.password ?? "none")")
  var number = found.flatMap { Int($0.login) } ?? 0
  func rewrite() throws {
    number += 1
    try storage[key, as: .credential].write(Credential(login: "\(number)", password: "\(number)"))
    tell("saved \(number)")
  }
  try rewrite()
  if readLine() == nil { return }
  while true { try rewrite() }
}

/// Does the same with a password, which most keyrings replace in place.
func replaceForever(in storage: any SecureStorage, service: String) throws {
  let key = ItemKey.password(service: service, account: "account")
  let found = try storage.password(for: key)
  tell("found \(found ?? "none")")
  var number = found.flatMap { Int($0) } ?? 0
  func replace() throws {
    number += 1
    try storage.setPassword("\(number)", for: key)
    tell("saved \(number)")
  }
  try replace()
  if readLine() == nil { return }
  while true { try replace() }
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
