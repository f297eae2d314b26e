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
      from arguments. Only "get" and the credential helpers of git and docker print a secret, and "run" \
      hands secrets to a program.

      \(ToolStatus.description) Some commands have a status of their own, which their help describes.
      """,
    version: version,
    subcommands: [
      ListCommand.self, GetCommand.self, SetCommand.self, GenerateCommand.self,
      RemoveCommand.self, MoveCommand.self, ExportCommand.self, ImportCommand.self, RunCommand.self,
      WatchCommand.self, LockCommand.self,
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
    Terminal.reserveClosedStreams()
    do {
      var command = try parseAsRoot(arguments)
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch let error as SecureStorageError {
      fail("\(error.message) \(error.recoverySuggestion ?? "")", ToolStatus(error))
    } catch let error as ToolFailure {
      fail(error.description, error.status)
    } catch let error as ItemSelection.Unclear {
      exit(withError: ValidationError(error.message))
    } catch {
      exit(withError: error)
    }
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
