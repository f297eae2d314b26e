// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import KeyringStorage
public import KeyringToolCommands

struct GitCredentialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "git-credential", abstract: "Keep the passwords that git asks for.",
    discussion: """
      To let git run this command, use: git config --global credential.helper '!keyring-tool git-credential'

      Under the name git-credential-keyring, the program does the same. The value of credential.helper is \
      "keyring" then. Standard input describes a credential, as documented in gitcredentials(7). The exit \
      status is 1 if the command fails.
      """)

  @OptionGroup var storage: StorageOptions

  /// The largest description of a credential.
  ///
  /// Most of it comes from servers. curl passes on up to 300 KiB of the headers of a response (since 8.3).
  static let longestInput = 1 << 20

  @Argument(help: "The operation: get, store or erase. Others are ignored.")
  var operation: String

  func run() throws {
    // Git sends an operation that this version doesn't know in a form that it doesn't know, either.
    guard let operation = CredentialOperation(rawValue: operation) else { return }
    do {
      let input = try Terminal.readInput(upTo: Self.longestInput, endsAtEmptyLine: true)
      try Terminal.write(operation.reply(to: input, in: storage.selected()))
    } catch let error as HelperFailure {
      Terminal.complain(error.line)
      throw ExitCode.failure
    }
  }
}

struct DockerCredentialCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "docker-credential", abstract: "Keep the passwords that docker asks for.",
    discussion: """
      Docker runs the program under the name docker-credential-keyring, if its config.json has \
      "credsStore": "keyring". Standard input is the address of a registry, or a credential as JSON for \
      "store". As docker expects it, errors are on standard output, with the exit status 1.
      """)

  @OptionGroup var storage: StorageOptions

  @Argument var operation: DockerCredentials.Operation

  func run() throws {
    do {
      let hasInput = operation != .list && operation != .version
      let limit = GitCredentialCommand.longestInput
      let input = hasInput ? try Terminal.readInput(upTo: limit) : Secret("")
      try Terminal.write(
        DockerCredentials(storage.selected(), version: KeyringTool.version)
          .reply(to: operation, input))
    } catch let error as DockerCredentials.Failure {
      try Terminal.print([error.message])
      throw ExitCode.failure
    } catch let error as SecureStorageError {
      try Terminal.print([error.sentences])
      throw ExitCode.failure
    } catch let error as ToolFailure {
      try Terminal.print([error.description])
      throw ExitCode.failure
    }
  }
}

extension DockerCredentials.Operation: ExpressibleByArgument {}
