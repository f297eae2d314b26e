// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringToolCommands

/// A command-line tool for a keyring.
@main
struct KeyringTool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keyring-tool",
    abstract:
      "Manage the secrets in your keyring, in an encrypted file or in the storage of a fleet.",
    discussion: """
      The tool reads secrets from standard input, or asks for them without echo. It never takes them \
      from arguments. Only "get", "update --print" and the credential helpers of git and docker print a secret. "run" and \
      "update" hand secrets to a program.

      \(ToolStatus.description) Some commands have a status of their own, which their help describes.
      """,
    version: version,
    subcommands: [
      ListCommand.self, GetCommand.self, SetCommand.self, GenerateCommand.self,
      UpdateCommand.self, RemoveCommand.self, RenameCommand.self, MoveCommand.self,
      ExportCommand.self,
      ImportCommand.self, RunCommand.self, WatchCommand.self, LockCommand.self,
      UnlockCommand.self, CollectionsCommand.self, DoctorCommand.self, GitCredentialCommand.self,
      DockerCredentialCommand.self,
    ] + fleetCommands)

  #if Etcd
  private static let fleetCommands: [any ParsableCommand.Type] = [
    InitializeCommand.self, RotateCommand.self, RewrapCommand.self, PermissionsCommand.self,
  ]
  #else
  private static let fleetCommands: [any ParsableCommand.Type] = []
  #endif

  static func main() async {
    ProcessMemory.hide()
    _ = Terminal.ignoresPipes
    _ = ChildProcess.inheritedMask
    Terminal.reserveClosedStreams()
    var type: any ParsableCommand.Type = Self.self
    do {
      try checkCommand()
      try ProgramArguments.check()
      var command = try parseAsRoot(arguments)
      type = Swift.type(of: command)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let error as SecureStorageError {
      let keyFiles =
        error.code == .locked && error.message.contains("has no terminal")
          && type != UnlockCommand.self
        ? " Or name a key file: --key-file, --to-key-file or --from-key-file." : ""
      fail("\(error.sentences)\(keyFiles)", ToolStatus(error))
    } catch let error as ToolFailure {
      fail(error.description, error.status)
    } catch let error as ItemSelection.Unclear {
      failWithUsage(
        ([error.message] + error.candidates.map { "  \($0)" }).joined(separator: "\n"), of: type)
    } catch let error as ValidationError {
      failWithUsage(error.message, of: type)
    } catch {
      if exitCode(for: error) == .validationFailure { failWithoutValues(error) }
      exit(withError: error)
    }
  }

  /// Throws an error if there is no such command, without repeating it, in case it's a secret.
  private static func checkCommand() throws {
    guard let name = arguments.first, !name.hasPrefix("-") else { return }
    // A key path crashes the compiler of Swift 6.3.
    let commands = configuration.subcommands.map { $0.configuration }
    let names = commands.flatMap { [$0.commandName ?? ""] + $0.aliases } + ["help"]
    if names.contains(name) { return }
    let similar = CommandName.similar(to: name, in: names).map { " Did you mean \"\($0)\"?" }
    throw ValidationError("There is no such command.\(similar ?? "")")
  }

  /// Ends the program with the usage of a command.
  private static func failWithUsage(_ message: String, of type: any ParsableCommand.Type) -> Never {
    let name = type == Self.self ? "" : " \(type.configuration.commandName ?? "")"
    let lines = """
      Error: \(message)
      Usage: \(usageString(for: type))
        See 'keyring-tool\(name) --help' for more information.

      """
    try? Terminal.write(Array(lines.utf8), to: STDERR_FILENO)
    exit(withError: ExitCode.validationFailure)
  }

  /// Ends the program without repeating values of arguments, in case one of them is a secret.
  private static func failWithoutValues(_ error: any Error) -> Never {
    var message = fullMessage(for: error)
    // The first argument is the command.
    for argument in arguments.dropFirst() {
      let parts = argument.split(separator: "=", maxSplits: 1)
      let isName = argument.hasPrefix("-") && argument.count <= 2
      let value = argument.hasPrefix("--") ? parts.dropFirst().first : isName ? nil : argument[...]
      if let value { message.replace("'\(value)'", with: "'…'") }
    }
    if message.contains("'…'") {
      message += "\nThe tool takes no secret from its arguments, and doesn't repeat their values."
    }
    try? Terminal.write(Array("\(message)\n".utf8), to: STDERR_FILENO)
    exit(withError: ExitCode.validationFailure)
  }

  /// The arguments, with the command that the name of the program stands for.
  ///
  /// Git and docker run programs with such names.
  private static var arguments: [String] {
    let name = CommandLine.arguments[0].split(separator: "/").last ?? ""
    let command = ["git-credential", "docker-credential"].filter { name.hasPrefix("\($0)-") }
    return command + CommandLine.arguments.dropFirst()
  }

  private static func fail(_ message: String, _ status: ToolStatus) -> Never {
    Terminal.complain(message)
    exit(withError: ExitCode(status.rawValue))
  }
}
