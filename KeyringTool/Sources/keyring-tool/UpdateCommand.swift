// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Keyring
import KeyringStorage
import KeyringToolCommands

struct UpdateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "update",
    abstract:
      "Replace a secret by what a program makes of it, once for all who ask at the same moment.",
    discussion: """
      The program gets the old secret on standard input, and prints the new one: \
      keyring-tool update org.example.app token --if-expired --expires 1h -- ./refresh-token. If it exits with 0, the \
      new secret is stored, else nothing, and its status is that of this command. A missing item is an empty input.

      Others who update the same item wait until the new secret is stored, and then get that one: other runs of this \
      command, and programs that use "refresh" or "update" of the library. If this command is killed, the next one \
      begins with the old secret. "set" and "remove" don't wait. If one of them changes the secret meanwhile, the program \
      runs again with that secret, and an item that was removed stays removed.

      A line end at the end of the output is left out, and so is a byte order mark, unless you specify --binary. A \
      program that prints what it has got changes nothing, unless you specify --expires. A program that prints nothing \
      is a failure.

      Without --expires, a new secret doesn't expire: the time belongs to the old one. With --if-expired, the next new \
      secret is then up to you.

      The program has this command's terminal and standard error. It gets SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and \
      SIGUSR2 if they're sent to this command. Once it has ended, they end this command only after the secret is stored. \
      Ctrl-C goes to the program directly, and may end it between the answer of a server and its output. In a script, \
      put trap '' INT TERM before the request. If SIGKILL ends this command, the system kills the program, too, but not \
      what the program has started. It gets all other variables except for the password of ETCDCTL_USER. \
      The exit status is 127 if the program isn't found, and 126 if it can't be started.
      """)

  @OptionGroup var storage: StorageOptions
  @OptionGroup var item: ItemOptions
  @OptionGroup var expiry: ExpiryOptions

  @Flag(help: "Run the program only for a secret whose time of expiry is over.")
  var ifExpired = false

  @Option(
    help: ArgumentHelp(
      "With --if-expired, the time before the expiry at which the program runs, such as \"5m\".",
      valueName: "duration"),
    transform: duration)
  var within: Duration?

  @Option(
    help: ArgumentHelp(
      "The longest time to wait for others who update the item. Without it, that's \"60s\".",
      valueName: "duration"),
    transform: duration)
  var wait: Duration?

  @Flag(name: .customLong("print"), help: "Print the secret that is stored then.")
  var prints = false

  @Flag(help: "Store every byte of the output, including a line end and a byte order mark.")
  var binary = false

  @Argument(parsing: .postTerminator, help: "The program and its arguments, after \"--\".")
  var command: [String] = []

  private static func duration(_ text: String) throws -> Duration {
    guard let span = TimeSpan(text) else { throw ValidationError("It isn't a length of time.") }
    return span.duration
  }

  func validate() throws {
    if command.isEmpty { throw ValidationError("Specify a program after \"--\".") }
    if within != nil, !ifExpired { throw ValidationError("Use --within only with --if-expired.") }
  }

  func run() async throws {
    let program = ChildProcess()
    if prints, Terminal.isOutput {
      throw ToolFailure(
        "The terminal would show the secret.",
        recoverySuggestion: "Send it to a program or a file, or leave out --print.",
        status: .misused)
    }
    let (selection, storage) = (item.selection(), try storage.selected())
    let arguments = Array(ProgramArguments.all.suffix(command.count))
    PromptNotice.scheduleForTurn()
    let outcome: UpdateOutcome
    do {
      outcome = try await ItemCommands(storage).update(
        selection, expiringWithin: ifExpired ? within ?? .zero : nil, expires: expiry.expires,
        timeout: wait ?? .seconds(60), isBinary: binary
      ) { try await Self.output(of: program, arguments, input: $0, for: storage) }
    } catch let failure as ProgramFailure {
      try ChildProcess.finish(command[0], failure.end)
    }
    if prints { try Terminal.write(outcome.secret) }
    if outcome.hasStored {
      Terminal.tell("stored \(outcome.item) in \(self.storage.selection.name.place)")
      if ifExpired, expiry.expires == nil {
        Terminal.complain("The new secret has no time of expiry. To give it one, use --expires.")
      }
    }
    // A signal that arrived after the end of the program didn't stop the store.
    if let early = ChildProcess.earlyEnd { try ChildProcess.finish(command[0], early) }
  }

  /// Runs the program on the main actor, which nothing else needs meanwhile.
  @MainActor
  private static func output(
    of program: ChildProcess, _ arguments: [[CChar]], input: Secret?, for storage: any SecureStorage
  ) async throws -> Secret {
    PromptNotice.cancel()
    // The task is cancelled if the turn is lost. Others may run their programs then.
    let (end, output) = try await withTaskCancellationHandler {
      try program.run(arguments, input: input)
    } onCancel: {
      ChildProcess.interrupt()
    }
    if case .exited(0) = end { return output }
    if Task.isCancelled {
      throw SecureStorageError(
        .turnLost, operation: .takeTurn, backendName: storage.backendName)
    }
    throw ProgramFailure(end: end)
  }
}

/// A program that has failed.
private struct ProgramFailure: Error { let end: ChildProcess.End }
