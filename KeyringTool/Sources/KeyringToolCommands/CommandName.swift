// SPDX-License-Identifier: Apache-2.0

/// The name of a command, as users of other tools would call it.
public enum CommandName {
  /// The commands with another name in pass, secret-tool, gh and others.
  private static let others = [
    "show": "get", "lookup": "get", "read": "get", "cat": "get", "print": "get", "token": "get",
    "search": "list", "find": "list", "insert": "set", "store": "set", "add": "set", "edit": "set",
    "clear": "remove", "delete": "remove", "del": "remove", "erase": "remove", "mv": "move",
    "backup": "export", "restore": "import", "status": "doctor", "exec": "run",
  ]

  /// Returns the command that a user may mean, or `nil` if none is similar.
  ///
  /// - Parameters:
  ///   - name: The name that isn't that of a command.
  ///   - names: The names of the commands.
  /// - Returns: The name of a command.
  public static func similar(to name: String, in names: [String]) -> String? {
    if let other = others[name] { return other }
    let distances = names.map { (name: $0, distance: distance(from: Array(name), to: Array($0))) }
    return distances.filter { $0.distance < 3 && $0.distance < $0.name.count - 1 }
      .min { $0.distance < $1.distance }?.name
  }

  /// The number of characters to insert, remove or replace.
  private static func distance(from left: [Character], to right: [Character]) -> Int {
    var row = Array(0...right.count)
    for (index, character) in left.enumerated() {
      var next = [index + 1]
      for (other, value) in right.enumerated() {
        next.append(
          min(row[other + 1] + 1, next[other] + 1, row[other] + (character == value ? 0 : 1)))
      }
      row = next
    }
    return row[right.count]
  }
}
