// SPDX-License-Identifier: Apache-2.0

#if Etcd
import ArgumentParser
import KeyringEtcd
import KeyringStorage

struct InitializeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "initialize",
    abstract: "Create the namespace of a fleet.",
    discussion: """
      If the key file doesn't exist, the command creates it. Without the key file, nobody can read the \
      items: keep a copy of it in a safe place.
      """)

  @OptionGroup var storage: StorageOptions

  func run() async throws {
    let isNew = try await storage.selection.fleet().createNamespace()
    try Terminal.print([isNew ? "created" : "the namespace exists"])
  }
}

struct RotateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate",
    abstract: "Encrypt all items of a fleet with a new data key.",
    discussion: """
      Programs of the fleet read the new data key by themselves. If the command is interrupted, run it \
      again. If an item can't be decrypted, the others are encrypted, and the old key stays.
      """)

  @OptionGroup var storage: StorageOptions

  func run() async throws {
    try await Terminal.print(["encrypted \(storage.selection.fleet().rotateDataKey())"])
  }
}

struct RewrapCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rewrap",
    abstract: "Make another key file open the namespace of a fleet.",
    discussion: """
      If the new file doesn't exist, the command creates it. The old file doesn't open the namespace any \
      more. Running programs go on, and need the new file when they start again.
      """)

  @OptionGroup var storage: StorageOptions

  @Option(help: "The file with the new key.")
  var newKeyFile: String

  func run() async throws {
    let fleet = try storage.selection.fleet()
    do {
      try await fleet.rewrapKeys(with: .keyFile(at: newKeyFile))
    } catch .connectionLost {
      // Only this process can find out whether the change was made, and prevent that it's made later.
      try await fleet.rewrapKeys(with: .keyFile(at: newKeyFile))
    } catch {
      // Without this clause, Swift 6.3 crashes.
      throw error
    }
    try Terminal.print(["the namespace has the key of \(newKeyFile)"])
  }
}

struct PermissionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "permissions",
    abstract: "Print the commands that allow a role of the cluster to use the items of a service.",
    discussion: "Name a service, or the server that internet passwords are for.")

  @OptionGroup var storage: StorageOptions

  @Option(help: "The service.")
  var service: String?

  @Option(help: "The server, such as mail.example.org.")
  var server: String?

  @Option(help: "The role of the cluster.")
  var role: String

  func validate() throws {
    guard (service == nil) != (server == nil) else {
      throw ValidationError("Name either --service or --server.")
    }
  }

  func run() async throws {
    let key =
      if let server { ItemKey.internetPassword(server: InternetServer(server)) } else {
        ItemKey.password(service: service ?? "", account: "any")
      }
    let permissions = try await storage.selection.fleet().permissions(for: key)
    try Terminal.print(
      permissions.map { "etcdctl role grant-permission --prefix '\(role)' \($0)" })
  }
}
#endif
