// SPDX-License-Identifier: Apache-2.0

import Foundation
import Keyring
import KeyringStorage
import TestPrograms
import Testing

/// Secrets that are environment variables.
@Suite struct EnvironmentStorageTests {
  private let service = "org.example.app"

  private func password(_ account: String) -> ItemKey {
    .password(service: service, account: account)
  }

  // The thread sanitizer has nothing to find in one thread.
  @Test(
    .tags(.unsanitized),
    arguments: [
      ("authToken", "AUTH_TOKEN"), ("auth-token", "AUTH_TOKEN"), ("AUTH_TOKEN", "AUTH_TOKEN"),
      ("api-key.v2", "API_KEY_V2"), ("myURLSecret", "MY_URL_SECRET"), ("v2Key", "V2_KEY"),
      ("token", "TOKEN"), ("a", "A"), ("URL", "URL"), ("two words", "TWO_WORDS"), ("2fa", "2FA"),
    ])
  func `an account names a variable`(account: String, variable: String) async {
    // The test has a process of its own, because variables belong to the whole process.
    await #expect(processExitsWith: .success) {
      [account = account as String, variable = variable as String] () throws -> Void in
      setenv("EXAMPLE_" + variable, "s3cret", 1)
      let storage = EnvironmentStorage(service: "service", prefix: "EXAMPLE_")
      #expect(
        try storage.password(for: .password(service: "service", account: account)) == "s3cret")
      let another = ItemKey.password(service: "another", account: account)
      #expect(try storage.password(for: another) == nil)
    }
  }

  @Test func `a variable can be read as a password, a value or a credential`() async {
    await #expect(processExitsWith: .success) { () throws -> Void in
      setenv("EXAMPLE_TOKEN", "s3cret\n", 1)
      setenv("EXAMPLE_DATABASE", #"{"login": "ada", "password": "pa55"}"#, 1)
      setenv("EXAMPLE_EMPTY", "", 1)
      let storage = EnvironmentStorage(service: "service", prefix: "EXAMPLE_").service("service")
      #expect(try storage.password("token").read() == "s3cret")
      #expect(try storage.value("token", as: [UInt8].self).read() == Array("s3cret\n".utf8))
      #expect(try storage.credential("database").read()?.login == "ada")
      // A variable that was given no value is empty.
      #expect(try storage.password("empty").read() == nil)
      #expect(try storage.password("absent").read() == nil)
      let error = expectError(.undecodable) { try storage.credential("token").read() }
      #expect("\(error as Any)".contains("s3cret") == false)
      // One that isn't text can be read only as bytes.
      setenv("EXAMPLE_BYTES", [CChar(bitPattern: 0xFF), 0], 1)
      expectError(.undecodable) { try storage.password("bytes").read() }
      #expect(try storage.value("bytes", as: [UInt8].self).read() == [0xFF])
    }
  }

  @Test func `writes and removals are refused`() {
    let storage = EnvironmentStorage(service: service, prefix: "EXAMPLE_")
    expectError(.readOnly) { try storage.setPassword("new", for: password("token")) }
    expectError(.readOnly) { try storage.remove(password("token")) }
  }

  @Test(arguments: [("é", "EXAMPLE_"), ("2fa", ""), ("a", "A=")])
  func `a name that no variable can have is refused`(name: String, prefix: String) {
    let storage = EnvironmentStorage(service: service, prefix: prefix)
    expectError(.invalidArgument, argument: "account") { try storage.item(for: password(name)) }
  }

  @Test func `a search without a key is refused`() {
    let storage = EnvironmentStorage(service: service, prefix: "EXAMPLE_")
    expectError(.invalidArgument, argument: "query") {
      try storage.items(matching: .service(service))
    }
  }
}
