// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyringStorage
import KeyringToolCommands

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a program with secrets of a service.",
    discussion: """
      Without --file and --env, the program gets each item of the service that this package has stored as an \
      environment variable: keyring-tool run org.example.server -- ./server. The account is the name of the variable, \
      and replaces one of the same name. Items that can't be variables are named on standard error.

      With --hide, \(HidingFilter.mark) stands in the output of the program for each secret that it gets. The program gets \
      a terminal of its own if this command has one, else pipes. A secret that the program encodes or prints in parts \
      isn't hidden, nor one in files.

      With --file, the program finds the files in the directory $CREDENTIALS_DIRECTORY, as a service of systemd does. The \
      directory is in memory, which the system can swap out. This command removes it when the program ends. \
      If SIGKILL ends the command, the directory stays until the user logs out or the system restarts.

      With --netrc, the variable $NETRC is the path of a .netrc file in that directory. For example, SwiftPM \
      finds the password of a package registry there: \
      keyring-tool run --netrc packages.example.org -- sh -c 'swift build --netrc-file "$NETRC"'

      A .netrc file names only the server, so programs use the password for all its ports and paths. This \
      command therefore writes only the password for https with its own port, and without a path. To pass \
      on another one, name its protocol, port and path, as in --netrc http://server:8080/path=account.

      With --env-file, references in the file become secrets. Other values are passed on as the file means them; \
      `$NAME` isn't replaced.

      NAME=keyring://service/account

      NAME=keyring://service?credential=label and NAME=keyring://service?credential=label&login

      NAME=keyring://?server=git.example.org&protocol=https&account=ada

      Further parameters are value, access-group, port, path, domain, authentication, and collection for the \
      label of a collection. Percent-encode other characters in each part: "/" is %2F, and "%" is %25. The file \
      has the grammar of "import", and its values replace variables of the same name. If a secret is missing, \
      the command names the variable and its line.

      Use variables only for a program that can't read files. Every program of the same user can read the \
      variables in /proc, and every program that this one starts inherits them. With these alone, the program \
      replaces this command, except with --hide. It gets all other variables except for the password of ETCDCTL_USER.

      The program gets SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 if they're sent to this \
      command. The exit status is that of the program, 127 if the program isn't found, and 126 if it can't be \
      started. If a secret can't be read, the program isn't started, and the status is that of other commands.
      """)

  @OptionGroup var storage: StorageOptions

  @Argument(help: ArgumentHelp("The same as --service.", valueName: "service"))
  var serviceArgument: String?

  @Option(
    help: "The service of the secrets, which are all of its own items without --file and --env.")
  var service: String?

  @Option(
    name: .customLong("file"),
    help: ArgumentHelp(
      "A password as a file with this name. The account has the same name, or another one after \"=\".",
      valueName: "name[=account]"))
  var files: [NamedAccount] = []

  @Option(
    name: .customLong("env"),
    help: ArgumentHelp(
      "A password as an environment variable.", valueName: "variable[=account]"))
  var variables: [NamedAccount] = []

  @Option(
    help: ArgumentHelp(
      "The password of a server, as a line of a .netrc file.",
      valueName: "[protocol://]server[:port][/path][=account]"),
    transform: { text in
      guard let machine = NetrcFile.Machine(text) else {
        throw ValidationError("Specify a server or a URL, and possibly \"=\" and an account.")
      }
      return machine
    })
  var netrc: [NetrcFile.Machine] = []

  @Option(
    help: ArgumentHelp(
      "A file of lines NAME=value. Each becomes an environment variable, and references become secrets.",
      valueName: "file"),
    completion: .file())
  var envFile: String?

  @Flag(help: "Hide the secrets in what the program prints.")
  var hide = false

  @Flag(help: "Print the names of the variables and files, and run nothing.")
  var dryRun = false

  @Option(help: .hidden)
  var credentialsDirectory: String?

  @Argument(parsing: .postTerminator, help: "The program and its arguments, after \"--\".")
  var command: [String] = []

  func validate() throws {
    if command.isEmpty, !dryRun { throw ValidationError("Specify a program after \"--\".") }
    if serviceArgument != nil, service != nil {
      throw ValidationError("Specify a service as an argument, or with --service.")
    }
    if (serviceArgument ?? service) == nil {
      if !files.isEmpty || !variables.isEmpty {
        throw ValidationError("Specify a service together with --file or --env.")
      }
      if netrc.isEmpty, envFile == nil {
        throw ValidationError("Specify a service, --env-file or --netrc.")
      }
    }
    // What was given may be a secret, so it isn't repeated.
    if !files.allSatisfy({ CredentialsDirectory.isName($0.name) }) {
      throw ValidationError("A name after --file can't be that of a file.")
    }
    if !variables.allSatisfy({ ServiceVariables.isName($0.name) }) {
      throw ValidationError("A name after --env can't be that of an environment variable.")
    }
    if needsDirectory, variables.contains(where: { $0.name == "CREDENTIALS_DIRECTORY" }) {
      throw ValidationError(
        "With --file or --netrc, the variable CREDENTIALS_DIRECTORY is the directory.")
    }
    if !netrc.isEmpty, files.contains(where: { $0.name == "netrc" }) {
      throw ValidationError("With --netrc, the file netrc has the passwords of servers.")
    }
    if !netrc.isEmpty, variables.contains(where: { $0.name == "NETRC" }) {
      throw ValidationError("With --netrc, the variable NETRC is the path of the file.")
    }
    for names in [files.map(\.name), variables.map(\.name)] where Set(names).count < names.count {
      throw ValidationError("Use each name only once.")
    }
    for accounts in Dictionary(grouping: netrc, by: \.host).values.map({ $0.map(\.account) })
    where accounts.count > 1 && (accounts.contains(nil) || Set(accounts).count < accounts.count) {
      throw ValidationError("Use each server only once, or with different accounts.")
    }
  }

  private var needsDirectory: Bool { !files.isEmpty || !netrc.isEmpty }

  /// The names of the variables that say where the files are.
  private var ofDirectory: [String] {
    (needsDirectory ? ["CREDENTIALS_DIRECTORY"] : []) + (netrc.isEmpty ? [] : ["NETRC"])
  }

  func run() throws {
    let program = ChildProcess()
    if needsDirectory, credentialsDirectory == nil, !dryRun {
      try runAgain(program)
    } else {
      try start(program)
    }
  }

  /// Runs this command in another process, which gets the directory, and removes the directory at its end.
  ///
  /// The process that waits never has the secrets.
  private func runAgain(_ program: ChildProcess) throws {
    program.holdSignals()
    let directory = try CredentialsDirectory()
    let arguments = ProgramArguments.all
    let first = ["run", "--credentials-directory", directory.path].map { Array($0.utf8CString) }
    let end = program.runAgain(
      [arguments[0]] + first + arguments.dropFirst(2), stopsWithProgram: hide)
    directory.remove()
    try ChildProcess.finish(CommandLine.arguments[0], end)
  }

  /// Reads the secrets, and replaces this program by the one of the command.
  private func start(_ program: ChildProcess) throws {
    // A malformed file is noticed before the keyring asks for its password.
    let file = try environmentFile()
    let storage = try storage.selected()
    let items = ItemCommands(storage)
    var secrets = try secrets(files, items)
    var hidden: [(name: String, value: Secret)] = secrets.map { ($0, $1) }
    if !netrc.isEmpty {
      var file = NetrcFile()
      for machine in netrc { try file.add(machine, from: storage) }
      secrets["netrc"] = file.content
      hidden += file.passwords.map { ("NETRC", $0) }
    }
    var values = try self.secrets(variables, items)
    for (name, secret) in values where secret.text == nil {
      throw ToolFailure(
        "The password for \(name) isn't text.", recoverySuggestion: "Pass it with --file.")
    }
    if let service = serviceArgument ?? service, files.isEmpty, variables.isEmpty {
      let own = try ServiceVariables(
        of: service, besides: (file?.names ?? []) + ofDirectory, in: storage)
      values = own.secrets
      if !own.left.isEmpty { Terminal.complain("left out: \(own.left.joined(separator: ", "))") }
    }
    let others = try file?.values { collection in
      guard let collection else { return storage }
      guard case .keyring = self.storage.selection.name else {
        throw ToolFailure(
          "Only the keyring has collections.",
          recoverySuggestion: "Leave out \"collection\" or --storage.", status: .misused)
      }
      return try self.storage.keyring(collection)
    }
    let all = values.map { ($0, $1, true) } + (others ?? [])
    hidden += all.filter(\.2).map { ($0.0, $0.1) }
    if hide { try check(hidden) }
    if dryRun {
      let names = all.map(\.0) + secrets.keys.map { "$CREDENTIALS_DIRECTORY/\($0)" } + ofDirectory
      return try Terminal.print(Set(names).sorted().map(\.printable))
    }
    ProcessMemory.forgetVariables()
    for (name, secret, _) in all { try set(name, secret) }
    if let path = credentialsDirectory {
      try CredentialsDirectory(path: path).add(secrets)
      setenv("CREDENTIALS_DIRECTORY", path, 1)
      if !netrc.isEmpty { setenv("NETRC", "\(path)/netrc", 1) }
    }
    let bytes = ProgramArguments.all.suffix(command.count)
    if hide, !hidden.isEmpty {
      try ChildProcess.finish(
        command[0], program.run(Array(bytes), hiding: hidden.map(\.value)))
    }
    try ChildProcess.finish(command[0], .notStarted(program.replaceThisOne(by: Array(bytes))))
  }

  /// Throws an error if a secret is too short to be hidden.
  private func check(_ secrets: [(name: String, value: Secret)]) throws {
    for (name, secret) in secrets where HidingFilter.body(secret).count < HidingFilter.shortest {
      throw ToolFailure(
        "The secret of \(name.printable) has fewer than \(HidingFilter.shortest) bytes.",
        recoverySuggestion:
          "The output may have them by chance. Leave out --hide or the secret, or store a longer one."
      )
    }
  }

  private func environmentFile() throws -> EnvironmentFile? {
    guard let envFile else { return nil }
    let file = try EnvironmentFile(at: envFile)
    let others = variables.map(\.name) + ofDirectory
    if let name = file.names.first(where: others.contains) {
      throw ToolFailure(
        "The file and another option set the variable \(name).",
        recoverySuggestion: "Use each name only once.", status: .misused)
    }
    return file
  }

  /// Sets an environment variable to bytes, which don't have to be UTF-8.
  private func set(_ name: String, _ value: Secret) throws {
    let isSet = value.withUnsafeBytes { bytes in
      if bytes.contains(0) { return false }
      return withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { text in
        for index in bytes.indices { text[index] = CChar(bitPattern: bytes[index]) }
        text[bytes.count] = 0
        guard let start = text.baseAddress else { return false }
        defer { explicit_bzero(start, text.count) }
        return setenv(name, start, 1) == 0
      }
    }
    if isSet { return }
    throw ToolFailure(
      "The value of \(name) can't be in a variable.", recoverySuggestion: "Pass it with --file.")
  }

  private func secrets(
    _ named: [NamedAccount], _ items: ItemCommands
  ) throws -> [String: Secret] {
    var secrets: [String: Secret] = [:]
    for one in named {
      secrets[one.name] = try items.secret(
        ItemSelection(service: serviceArgument ?? service, account: one.account))
    }
    return secrets
  }
}

/// The name under which a program gets a secret, and the account that has the secret.
struct NamedAccount: ExpressibleByArgument {
  let name: String
  let account: String

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let name = parts.first, let account = parts.last, !account.isEmpty else { return nil }
    (self.name, self.account) = (String(name), String(account))
  }
}
