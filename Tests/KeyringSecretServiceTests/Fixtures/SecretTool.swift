#if SecretService && os(Linux)
import Foundation
import Testing

/// The keyring as another program sees it: libsecret's command-line client.
enum SecretTool {
  /// One item that a search found.
  struct Item: Equatable {
    var label = ""
    var secret: String?
    var attributes: [String: String] = [:]
  }

  /// Prints the secret of the item with these attributes, byte for byte.
  static func lookup(_ attributes: KeyValuePairs<String, String>) throws -> String? {
    let (status, output) = try run(["lookup"] + arguments(attributes))
    return status == 0 ? output : nil
  }

  static func store(
    _ secret: String, label: String, _ attributes: KeyValuePairs<String, String>
  ) throws {
    let (status, _) = try run(["store", "--label", label] + arguments(attributes), input: secret)
    try #require(status == 0)
  }

  static func clear(_ attributes: KeyValuePairs<String, String>) throws {
    let (status, _) = try run(["clear"] + arguments(attributes))
    try #require(status == 0)
  }

  static func search(_ attributes: KeyValuePairs<String, String>) throws -> [Item] {
    // The attributes come on standard error; line by line they keep their place.
    let (_, output) = try run(
      ["search", "--all"] + arguments(attributes), through: ["stdbuf", "-oL"])
    var items: [Item] = []
    for line in output.split(separator: "\n") {
      if line.hasPrefix("[") { items.append(Item()) }
      guard let index = items.indices.last, let equals = line.range(of: " = ") else { continue }
      let name = String(line[..<equals.lowerBound])
      let value = String(line[equals.upperBound...])
      switch name {
      case "label": items[index].label = value
      case "secret": items[index].secret = value
      case "schema": items[index].attributes["xdg:schema"] = value
      case _ where name.hasPrefix("attribute."):
        items[index].attributes[String(name.dropFirst("attribute.".count))] = value
      default: break
      }
    }
    return items
  }

  private static func arguments(_ attributes: KeyValuePairs<String, String>) -> [String] {
    attributes.flatMap { [$0.key, $0.value] }
  }

  private static func run(
    _ arguments: [String], through prefix: [String] = [], input: String = ""
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = prefix + ["secret-tool"] + arguments
    let (stdin, stdout) = (Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = stdout
    try process.run()
    try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
#endif
