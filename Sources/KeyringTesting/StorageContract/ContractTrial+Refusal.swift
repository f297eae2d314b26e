// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

/// The trial of refusals: invalid arguments are refused before anything is stored.
extension ContractTrial {
  func invalidArgumentsAreRefused() throws {
    try save("kept", password())
    let long = String(repeating: "x", count: ItemLimits.attributeBytes + 1)
    for bad in ["", "nul\0", long] {
      try expectRefusal("account", password(bad))
      try expectRefusal("service", .password(service: bad, account: "account"))
      try expectRefusal("label", credentials(bad))
      try expectRefusal("label", of: SecureItem(key: password(), label: bad))
    }
    try expectRefusal("label", of: SecureItem(key: password(), label: "with/slash"))
    try expectRefusal("key", ItemKey(kind: .password, attributes: [:]))
    for bad in ["", "nul\0", "co:lon", "com,ma", long] {
      let parts = ["service": service]
      try expectRefusal("kind", ItemKey(kind: ItemKind(rawValue: bad), attributes: parts))
      try expectRefusal(
        "key", ItemKey(kind: .password, attributes: parts.merging([bad: "value"]) { $1 }))
      try expectRefusal("kind", "searching") {
        _ = try storage.items(matching: .service(service, kind: ItemKind(rawValue: bad)))
      }
    }
    for bad in ["nul\0", long] {
      try expectRefusal(
        "attributes", of: SecureItem(key: password(), attributes: [bad: "value"]))
      try expectRefusal(
        "login",
        of: SecureItem(
          key: credentials(), secret: Secret("x"), attributes: ["username": bad]))
    }
    try expectRefusal(
      "attributes", of: SecureItem(key: password(), attributes: ["service": "another"]))
    for reserved in ["xdg:schema", "gkr:compat:uint32:port"] {
      try expectRefusal("attributes", of: SecureItem(key: password(), attributes: [reserved: ""]))
    }
    let large = Secret(bytes: [UInt8](repeating: 0x78, count: try secretByteLimit() + 1))
    try expectRefusal("secret", of: SecureItem(key: password(), secret: large))
    try expectStored("kept", password(), "after refused saves")
    let count = try storage.items(matching: .service(service)).count
    try expect(count == 1, "refused saves left \(count) items instead of 1")
  }

  private func expectRefusal(_ argument: String, _ key: ItemKey) throws {
    try expectRefusal(argument, of: SecureItem(key: key, secret: Secret("refused")))
    try expectRefusal(argument, "reading") { _ = try storage.item(for: key) }
    try expectRefusal(argument, "removing") { try storage.remove(key) }
  }

  private func expectRefusal(_ argument: String, of item: SecureItem) throws {
    try expectRefusal(argument, "saving") { try storage.save(item, mode: .addOrReplace) }
  }

  private func expectRefusal(
    _ argument: String, _ action: String, _ body: () throws -> Void
  ) throws {
    let error = try expect(
      .invalidArgument, argument, of: "\(action) with a bad \(argument)", body)
    try expect(
      error.message.contains(argument), "the message does not name \(argument): \(error.message)")
  }
}
