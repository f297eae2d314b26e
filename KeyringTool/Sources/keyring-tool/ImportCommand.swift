// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import Keyring
import KeyringStorage
public import KeyringToolCommands

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Copy items from another storage or from a file of another program.",
    discussion: """
      Name the path of a file with secrets in plain text, or a storage, such as a backup that "export" has \
      written. The format of a file follows from its name, or else from how it begins:

      env: lines NAME=value. NAME becomes the account of a password of --service.

      json: an object. Text becomes a password of --service, with the name as the account, or in nested \
      objects all names with dots between them. An object with "login" and "password" becomes a credential, and \
      anything else a value.

      netrc: each entry becomes an internet password for https, with the server and the login. Entries of \
      "default" and with "account" are named, and stay.

      git-credentials: each line becomes the internet password that git's helper finds.

      docker: each login of config.json or .dockercfg becomes the item that docker's helper finds. Headers, and \
      passwords of proxies, are named, and stay.

      The command checks everything before it writes, writes the values, and reads them back. It stops at the \
      first value that is lost, says how many were done, and leaves the file as it is. An item with another \
      value isn't replaced without --replace; then nothing is written. Run it again to go on.

      With --remove-source, the values are cut out of the file at the end, in one step. The rest of the file \
      stays. Before that, the command waits until the keyring has written everything, for a minute or more with \
      KWallet. A keyring that doesn't say when it writes, such as KeePassXC, is locked and unlocked once, and \
      the values are read again. Nothing overwrites the old text on the disk, or in backups: change secrets \
      that others may have read.

      From a storage: \(CopyOptions.discussion)
      """)

  @Argument(help: ImportSource.help, completion: .file())
  var source: ImportSource

  @OptionGroup var storage: StorageOptions
  @OptionGroup var copy: CopyOptions

  @Option(help: "The file with the key of that storage.", completion: .file())
  var fromKeyFile: String?

  @Option(help: "The format of the file, regardless of its name.")
  var format: PlaintextFileFormat?

  @Option(
    help: ArgumentHelp("Import only the value with this name of the file.", valueName: "name"))
  var only: [String] = []

  @Flag(help: "Print what would be imported, without the secrets, and leave the storage alone.")
  var dryRun = false

  @Flag(help: "Remove the values from the file after they were imported and read back.")
  var removeSource = false

  func validate() throws {
    switch source {
    case .storage(let name):
      try storage.selection(of: name, keyFile: fromKeyFile).check(keyOption: "--from-key-file")
      if name == storage.selection.name { throw ValidationError("Both storages are the same.") }
      if format != nil || removeSource || !only.isEmpty {
        throw ValidationError("Use --format, --only and --remove-source only with a file.")
      }
    case .file:
      if fromKeyFile != nil {
        throw ValidationError("Use --from-key-file only with file:… or etcd:….")
      }
      try copy.items.checkIsServiceOnly()
      if removeSource, storage.selection.name == .keyring(collection: "session") {
        throw ValidationError(
          "The session collection is deleted at logout. Don't use --remove-source with it.")
      }
    }
    if dryRun, removeSource || copy.replace {
      throw ValidationError("Use --dry-run without --replace and --remove-source.")
    }
  }

  func run() throws {
    switch source {
    case .storage(let name):
      let source = try storage.selection(of: name, keyFile: fromKeyFile).openedSource()
      guard dryRun else { return try copy.run(from: source, to: storage.selected()) }
      let listing = try ItemCommands(source).list(
        copy.items.selection(), allowsUnlocking: !storage.noPrompt)
      if listing.lines.isEmpty { throw ToolFailure.nothingSelected }
      try Terminal.print(listing.lines)
    case .file(let path): try importFile(path)
    }
  }

  private func importFile(_ path: String) throws {
    guard let format = try format ?? PlaintextFileFormat(ofFileAt: path) else {
      throw ToolFailure(
        "The format of \(path.printable) isn't clear.",
        recoverySuggestion:
          "Name it with --format, or write \"file:\" before the path of an encrypted file.",
        status: .misused)
    }
    let service = copy.items.selection().service
    guard (service != nil) == format.needsService else {
      throw ValidationError(
        format.needsService
          ? "Specify the service that the secrets belong to."
          : "The format \(format.rawValue) has no service.")
    }
    let file = try PlaintextImport(ofFileAt: path, format: format, service: service, only: only)
    for line in file.refusals { Terminal.complain(line) }
    if let warning = file.warning { Terminal.complain(warning) }
    if dryRun {
      try Terminal.print(file.lines)
    } else {
      try write(file)
    }
    if !file.refusals.isEmpty { throw ExitCode.failure }
  }

  private func write(_ file: PlaintextImport) throws {
    let storage = try storage.selected()
    let count = try file.copy(to: storage, replacing: copy.replace, toMove: removeSource)
    try Terminal.print(["imported \(count)"])
    guard removeSource else { return }
    if try !storage.waitUntilEverythingIsWritten() { try lockAndUnlock(storage) }
    try Terminal.print(["removed \(file.move(to: storage)) from the file"])
  }

  /// Locks and unlocks the keyring, which then has written everything, and has read it again.
  private func lockAndUnlock(_ storage: any SecureStorage) throws {
    guard let keyring = storage as? SecretServiceStorage, !self.storage.noPrompt else {
      throw ToolFailure(
        "The values are imported, and still in the file, because the keyring doesn't say when it writes.",
        recoverySuggestion:
          "Run the command without --no-prompt, so that the keyring can be locked and unlocked once."
      )
    }
    Terminal.complain("locking the keyring, which asks for its password, to read everything again")
    try keyring.lock()
    try keyring.unlock()
  }
}

extension PlaintextFileFormat: ExpressibleByArgument {}
