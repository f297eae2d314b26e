// SPDX-License-Identifier: Apache-2.0

#if os(Linux)
import Glibc
import KeyringStorage

/// Prints the pair that is there, rewrites it once, and after a line of input again and again.
///
/// Each pair has a number, in the login and in the password. The function prints a line for the
/// pair that it finds, and for every pair that it writes, once the write is acknowledged.
func rewriteForever(in storage: any SecureStorage, service: String) throws {
  let key = ItemKey.credentials(service: service, label: "account")

  let found = try storage.credential(for: key)
  tell("found \(found?.login ?? "none") \(found?.password ?? "none")")
  var number = found.flatMap { Int($0.login) } ?? 0
  func rewrite() throws {
    number += 1
    try storage.setCredential(Credential(login: "\(number)", password: "\(number)"), for: key)
    tell("saved \(number)")
  }
  try rewrite()
  if readLine() == nil { return }
  while true { try rewrite() }
}

/// Writes a line at once, because a buffer is lost when the process is killed.
func tell(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDOUT_FILENO, bytes, bytes.count)
}
#endif
