// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
import Foundation
import Keyring
import KeyringStorage
import Testing

/// Passwords that both this package and another program use.
@Suite(.inPrivateSession) struct OtherProgramsTests {
  let service = PrivateSession.newService()
  let storage = SecretServiceStorage()

  private var password: StoredValue<String> {
    Password("token", service: service, storage: storage).projectedValue
  }

  private func items() throws -> [ForeignProgram.Item] {
    try ForeignProgram.inSession.get().items(["service": service])
  }

  @Test func `a password stays in the keyring as a witness of the tests`() throws {
    let witness = try #require(PrivateSession.witness)
    let property = Password<String?>(witness, service: "swift-keyring-witness", storage: storage)
    try property.write("witness of \(witness)")
    #expect(try property.read() == "witness of \(witness)")
  }

  // MARK: Theirs

  @Test(arguments: [any OtherProgram].all)
  func `an item of another program is read, changed in place and removed`(
    program: any OtherProgram
  ) throws {
    try program.set("theirs", service: service, username: "token")
    #expect(try password.read() == "theirs")
    #expect(try password.exists())

    expectError(.itemAlreadyExists) { try password.write("ours", mode: .add) }
    var expected = try items()
    try password.write("öurs")
    expected[0].secret = Data("öurs".utf8)
    #expect(try items() == expected)
    #expect(try program.get(service: service, username: "token") == "öurs")

    try program.set("theirs again", service: service, username: "token")
    #expect(try items().count == 1)
    #expect(try password.read() == "theirs again")

    #expect(try password.remove())
    #expect(try program.get(service: service, username: "token") == nil)
    #expect(try items().isEmpty)
    // It's also gone once the program removes it.
    try program.set("theirs", service: service, username: "token")
    try password.write("ours")
    try program.remove(service: service, username: "token")
    #expect(try password.read() == nil)
    #expect(try !password.exists())
  }

  // MARK: Ours

  @Test(arguments: [any OtherProgram].all)
  func `another program reads and removes our item`(program: any OtherProgram) throws {
    for secret in ["ours", "hällo wörld 👩‍💻", "\"quotes' $and spaces  ", "two\nlines\n", ""] {
      try password.write(secret)
      #expect(try program.get(service: service, username: "token") == secret)
    }
    try program.remove(service: service, username: "token")
    #expect(try password.read() == nil)
    #expect(try items().isEmpty)
  }

  @Test func `our item stays ours if another program changes it in place`() throws {
    try password.write("ours")
    var expected = try items()
    let theirs = try ForeignProgram.inSession.get()
    let path = try #require(theirs.itemsByPath(["service": service]).keys.first)
    try theirs.setSecret("theirs", of: path)
    expected[0].secret = Data("theirs".utf8)
    #expect(try items() == expected)
    #expect(try password.read() == "theirs")
  }

  // keyring 23.9.3 replaces an item only if it has keyring's attribute "application". Our item
  // doesn't have it, so gnome-keyring 42.1 creates a second item. keyring reads and removes the
  // item that was changed last, in whole seconds. We always read and remove our own item, and our
  // next save removes theirs.
  @Test func `PythonKeyring creates a second item instead of replacing ours`() throws {
    let keyring = PythonKeyring()
    try password.write("ours")
    let ours = try items()
    try keyring.set("theirs", service: service, username: "token")
    let all = try items()
    #expect(all.count == 2)
    #expect(all.contains(ours[0]))
    #expect(all.contains { $0.text == "theirs" && $0.attributes["application"] != nil })
    #expect(try password.read() == "ours")

    try password.write("ours again")
    #expect(try items().map(\.text) == ["ours again"])
    #expect(try password.read() == "ours again")
    #expect(try keyring.get(service: service, username: "token") == "ours again")

    // A removed password stays removed. Their item doesn't appear in its place.
    try keyring.set("theirs", service: service, username: "token")
    #expect(try items().count == 2)
    #expect(try password.remove())
    #expect(try items().isEmpty)
    #expect(try password.read() == nil)
    #expect(try keyring.get(service: service, username: "token") == nil)
  }
}
#endif
