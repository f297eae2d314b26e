/// Where ``FirstAvailable`` remembers from one run of a program to the next which storage it has chosen.
///
/// It is a file of one line, the name of the storage. A second one of the same name in the list has a 2
/// behind it. The line `for good` below it says that the user wants it so: no other storage is looked
/// at then. It may be written by hand, and removed.
public struct ChoiceMemory: Sendable {
  private enum Place: Sendable {
    case nowhere
    case file(String)
    case state(String)
  }

  private let place: Place

  /// Remembers nothing: each run chooses again, and may miss what another has stored elsewhere.
  public static let nowhere = ChoiceMemory(place: .nowhere)

  /// Remembers the choice in a file, for example beside the secrets of a service.
  ///
  /// - Parameter path: The absolute path of the file; it is made, and so are the folders it is in.
  /// - Returns: The memory.
  public static func file(at path: String) -> ChoiceMemory { ChoiceMemory(place: .file(path)) }

  /// Remembers the choice of a program in the user's folder for such things: in
  /// `$XDG_STATE_HOME/swift-keyring`, which is `~/.local/state/swift-keyring` by default.
  ///
  /// Where a user has neither that variable nor a home of their own (a service, a container, `sudo`),
  /// nothing is remembered, and ``FirstAvailable/diagnose(writing:)`` says so. Nor is it in a process that
  /// runs tests, which are to leave the developer's home alone.
  ///
  /// See the [XDG Base Directory Specification](https://specifications.freedesktop.org/basedir-spec/latest/).
  ///
  /// - Parameter name: The name of the program; by default that of the executable.
  /// - Returns: The memory.
  public static func program(_ name: String? = nil) -> ChoiceMemory {
    TestProcess.isCurrent ? .nowhere : .inStateFolder(name ?? Executable.name)
  }

  /// The same in every process.
  static func inStateFolder(_ name: String) -> ChoiceMemory { ChoiceMemory(place: .state(name)) }

  /// The path of the file; `nil` where nothing is remembered.
  public var path: String? {
    switch place {
    case .nowhere: nil
    case .file(let path): path
    case .state(let name): StateFolder.path(in: SecretVariable.text, named: name)
    }
  }

  /// Whether the choice should be remembered, and the user has no place for it.
  var lacksPlace: Bool { if case .state = place { path == nil } else { false } }

  // MARK: - What is remembered

  /// Reads which storage was chosen.
  func read(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> RememberedChoice? {
    guard let path else { return nil }
    let text: String?
    do throws(FileFailure) {
      text = try ChoiceFile(path: path).text()
    } catch {
      throw failure(path, error, operation)
    }
    guard let text else { return nil }
    if let choice = RememberedChoice(text) { return choice }
    throw SecureStorageError(
      .damaged, operation: operation, backend: "FirstAvailable",
      message: "The file \(path.inOneLine) should name the storage that was chosen, and does not.",
      advice: "Write the name into it, or remove it to have the first that is there chosen.")
  }

  /// Remembers a choice unless there is one already.
  ///
  /// - Returns: What is remembered from now on, which another process may have chosen.
  func remember(
    _ choice: RememberedChoice, _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> RememberedChoice {
    guard let path else { return choice }
    do throws(FileFailure) {
      if try ChoiceFile(path: path).write(choice.text, replacing: false) { return choice }
    } catch {
      throw failure(path, error, operation)
    }
    return try read(operation) ?? choice
  }

  /// Remembers a choice instead of any other.
  func replace(with choice: RememberedChoice?) throws(SecureStorageError) {
    guard let path else {
      if choice == nil { return }
      throw SecureStorageError(
        .noStorage, operation: .save, backend: "FirstAvailable",
        message: "There is no place to remember a choice in: no XDG_STATE_HOME, and no home.",
        advice: "Set XDG_STATE_HOME, or have the program use that storage alone.")
    }
    do throws(FileFailure) {
      let file = ChoiceFile(path: path)
      if let choice { _ = try file.write(choice.text, replacing: true) } else { try file.remove() }
    } catch {
      throw failure(path, error, .save)
    }
  }

  /// Why a choice could not be remembered, if that can be seen without trying.
  func obstacle() -> SecureStorageError? {
    guard let path, let error = ChoiceFile(path: path).obstacle() else { return nil }
    return failure(path, error, .diagnose)
  }

  private func failure(
    _ path: String, _ cause: FileFailure, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    let isState = if case .state = place { true } else { false }
    return SecureStorageError(
      cause.code, operation: operation, backend: "FirstAvailable",
      message: """
        The file \(path.inOneLine), which tells where this program's secrets are, \(cause.problem).
        """,
      advice: "Let this user read and write it"
        + (isState ? ", or name another folder in XDG_STATE_HOME." : "."),
      underlying: cause.underlying)
  }
}

/// A storage that was chosen, as it is remembered.
struct RememberedChoice: Equatable, Sendable {
  /// What distinguishes it from the others in the list, whatever their order.
  let name: String
  /// Whether the user has chosen it, and wants to hear of no other.
  var isForGood = false

  private static let mark = "for good"

  var text: String { name + "\n" + (isForGood ? Self.mark + "\n" : "") }

  init(name: String, isForGood: Bool = false) {
    (self.name, self.isForGood) = (name, isForGood)
  }

  /// Reads what was written; `nil` when it is something else.
  init?(_ text: String) {
    let lines = text.split(whereSeparator: \.isNewline)
    guard let name = lines.first, lines.count == 1 || lines.count == 2 && lines[1] == Self.mark
    else { return nil }
    self.init(name: String(name), isForGood: lines.count == 2)
  }
}
