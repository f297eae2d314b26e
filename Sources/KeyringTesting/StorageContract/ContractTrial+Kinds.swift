// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringPlatform
internal import KeyringStorage

// Rules 2 and 4 for kinds of items that have more parts or contain more than text.
extension ContractTrial {
  func internetPasswordsNeverCollide() throws {
    let keys = internetPasswordKeys
    for (index, key) in keys.enumerated() { try save("value \(index)", key, mode: .add) }
    for (index, key) in keys.enumerated() {
      try expect(secret(key) == Secret("value \(index)"), "\(key) was overwritten")
    }
    for (index, key) in keys.enumerated() { try save("rewritten \(index)", key, mode: .update) }
    for (index, key) in keys.enumerated() {
      try expect(secret(key) == Secret("rewritten \(index)"), "\(key) took another's new secret")
    }
    let found = try storage.items(matching: ofServer)
    try expect(found.count == keys.count, "\(keys.count) internet passwords are \(found.count)")
    try expect(Set(found.map(\.key)) == Set(keys), "the keys of internet passwords read back wrong")
    let removed = try storage.removeItems(matching: ofServer)
    try expect(removed == keys.count, "removing all of a server removed \(removed)")
  }

  /// One key for every combination of present and absent parts other than the server.
  private var internetPasswordKeys: [ItemKey] {
    (0..<64).map { bits in
      func isSet(_ bit: Int) -> Bool { bits & (1 << bit) != 0 }
      return .internetPassword(
        server: InternetServer(
          service,
          port: isSet(0) ? 8443 : nil,
          path: isSet(1) ? "/a path" : nil,
          securityDomain: isSet(2) ? "realm" : nil,
          protocol: isSet(3) ? .https : nil,
          authenticationType: isSet(4) ? .httpBasic : nil),
        account: isSet(5) ? "account" : nil)
    }
  }

  func accessGroupsAreApart() throws {
    let groups = [nil, "group", "another group"]
    for group in groups {
      let scope = storage.service(service, accessGroup: group)
      try scope.password("account").write("password of \(group ?? "none")", mode: .add)
      try scope.value("account").write([1, 2, 3], mode: .add)
    }
    for group in groups {
      let scope = storage.service(service, accessGroup: group)
      let password = try scope.password("account").read()
      try expect(password == "password of \(group ?? "none")", "a group has another's password")
      let accounts = try scope.names()
      try expect(accounts == ["account"], "the accounts of a group are \(accounts)")
    }
    let count = try storage.service(service, accessGroup: "group").removeAll().count
    try expect(count == 2, "removing all of a group with two items removed \(count)")
    let rest = try storage.service(service).removeAll().count
    try expect(rest == 4, "removing all of a service with four items left removed \(rest)")
  }

  func valuesComeBack() throws {
    struct Session: Codable, Sendable, Equatable {
      var token: String
      var scopes: [String]
      var expires: Date?
    }
    let scope = storage.service(service)
    let session = Session(
      token: "\"t\u{F6}ken\"\n", scopes: ["read", "write"], expires: Date(timeIntervalSince1970: 0))
    try scope.value("session").write(session)
    try expect(
      scope.value("session", as: Session.self).read() == session, "a value did not come back")
    try scope.value("text").write("text")
    try expect(
      scope.value("text", as: String.self).read() == "text", "a text value did not come back")

    let bytes: [UInt8] = [0, 0xFF, 0x22]
    try scope.value("bytes").write(bytes)
    try scope.value("data").write(Data(bytes))
    for account in ["bytes", "data"] {
      let key = ItemKey.value(service: service, account: account)
      try expect(secret(key) == Secret(bytes: bytes), "\(account) are not stored as they are")
      try expect(
        scope.value(account, as: [UInt8].self).read() == bytes, "\(account) did not come back")
      try expect(
        scope.value(account, as: Data.self).read() == Data(bytes), "\(account) did not come back")
    }

    try expect(.undecodable, of: "reading a value as another type") {
      _ = try scope.value("session", as: [Int].self).read()
    }
    try expect(
      scope.value("session", as: Session.self).read() == session,
      "reading a value as another type changed it")
    try expect(.invalidArgument, "value", of: "saving a value that JSON can't represent") {
      try scope.value("session").write(Double.infinity)
    }
    try expect(
      scope.value("session", as: Session.self).read() == session,
      "a refused value changed the old one")
  }

  func typedSavingKeepsTheMode() throws {
    let key = password()
    try storage.setPassword("first", for: key, mode: .add)
    try expect(.itemAlreadyExists, of: "adding a present password") {
      try storage.setPassword("second", for: key, mode: .add)
    }
    try storage.setPassword("second", for: key, mode: .update)
    try expect(storage.password(for: key) == "second", "an updated password is another one")
    try storage.setPassword(nil, for: key)
    try expect(!storage.exists(key), "setting nil did not remove the password")
    try expect(.itemNotFound, of: "updating an absent password") {
      try storage.setPassword("third", for: key, mode: .update)
    }
    let credential = credentials()
    try storage[credential, as: .credential].write(
      Credential(login: "a", password: "b"), mode: .add)
    try expect(.itemAlreadyExists, of: "adding a present credential with another login") {
      try storage[credential, as: .credential].write(
        Credential(login: "c", password: "d"), mode: .add)
    }
    try expect(
      storage[credential, as: .credential].read() == Credential(login: "a", password: "b"),
      "a refused addition changed the credential")
  }
}
