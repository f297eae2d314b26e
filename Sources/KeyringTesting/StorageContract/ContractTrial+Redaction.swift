// SPDX-License-Identifier: Apache-2.0

internal import Keyring
internal import KeyringRuntime
internal import KeyringStorage

/// The trial of redaction: nothing shows a secret.
extension ContractTrial {
  func secretsAreNotShown() throws {
    let marker = "marker-\(String.randomToken())"
    try save(marker, password())
    let credential = Credential(login: "login", password: marker)
    try self.credential().write(credential)
    let items = try storage.items(matching: .service(service, details: .all))
    try expect(items.count == 2, "two stored items are \(items.count)")

    try expectHidden(marker, in: storage)
    try expectHidden(marker, in: items)
    for item in items { try expectHidden(marker, in: item) }
    try expectHidden(marker, in: credential)
    let error = try expect(.itemAlreadyExists, of: "adding a present item") {
      try save(marker, password(), mode: .add)
    }
    try expectHidden(marker, in: error)
  }

  private func expectHidden(_ marker: String, in value: some Any) throws {
    for (way, text) in Renderings.of(value) {
      // Also look for the bytes as an array, because that's how dumped memory looks.
      let bytes = marker.utf8.map(String.init).joined(separator: ", ")
      try expect(
        !text.contains(marker) && !text.contains(bytes), "\(way) of \(type(of: value)) shows it")
    }
  }
}

/// The ways to turn a value into text without naming its parts.
package enum Renderings {
  /// Renders a value in every way.
  ///
  /// - Parameter value: The value.
  /// - Returns: The name of each way and the resulting text.
  package static func of(_ value: some Any) -> [(way: String, text: String)] {
    var printed = ""
    print(value, to: &printed)
    var debugPrinted = ""
    debugPrint(value, to: &debugPrinted)
    var dumped = ""
    dump(value, to: &dumped)
    return [
      ("print", printed), ("debugPrint", debugPrinted), ("dump", dumped),
      ("interpolation", "\(value)"), ("String(describing:)", String(describing: value)),
      ("String(reflecting:)", String(reflecting: value)),
      ("Mirror", mirrored(Mirror(reflecting: value), depth: 0)),
    ]
  }

  private static func mirrored(_ mirror: Mirror, depth: Int) -> String {
    if depth > 12 { return "" }
    let children = mirror.children.map { child in
      "\(child.label ?? "") \(child.value) \(mirrored(Mirror(reflecting: child.value), depth: depth + 1))"
    }
    let inherited = mirror.superclassMirror.map { mirrored($0, depth: depth + 1) } ?? ""
    return children.joined(separator: " ") + inherited
  }
}
