// SPDX-License-Identifier: Apache-2.0

internal import KeyringRuntime
internal import KeyringStorage

/// A memory that keeps the selection of a ``FirstAvailableStorage`` from one run of a program to the next.
///
/// It's a file with the name of the storage, and " 2" after it for the second storage of that name. With a second line
/// `for good`, no other storage is checked. Every operation has to read the file, and those that save or remove also
/// have to write it. A failure ends the operation.
///
/// ```swift
/// let memory = SelectionMemory.file(at: "/var/lib/example/selection")
/// let storage = FirstAvailableStorage(storages, remembering: memory)
/// ```
public struct SelectionMemory: Sendable {
  private enum Place: Sendable {
    case nowhere
    case file(String)
    case state(String)
  }

  private let place: Place

  /// A memory that remembers nothing.
  ///
  /// Each run selects again, and may not find items that another run stored elsewhere.
  public static let nowhere = SelectionMemory(place: .nowhere)

  /// Remembers the selection in a file, for example next to the secrets of a service.
  ///
  /// ```swift
  /// let storage = FirstAvailableStorage(storages, remembering: .file(at: "/var/lib/example/selection"))
  /// ```
  ///
  /// - Parameter path: The absolute path of the file. The file and the directories that it's in are created.
  /// - Returns: The memory.
  public static func file(at path: String) -> SelectionMemory {
    SelectionMemory(place: .file(path))
  }

  /// Remembers the selection of a program in `~/.local/state/swift-keyring`, as the [XDG Base Directory
  /// Specification](https://specifications.freedesktop.org/basedir-spec/latest/) has it.
  ///
  /// Tests, and users with no home, remember nothing.
  ///
  /// - Parameter name: The name of the program. The default is the name of the executable.
  /// - Returns: The memory.
  public static func program(_ name: String? = nil) -> SelectionMemory {
    TestProcess.isCurrent ? .nowhere : .inStateDirectory(name ?? Executable.name)
  }

  /// Returns the memory in the user's state directory, even in a process that runs tests.
  static func inStateDirectory(_ name: String) -> SelectionMemory {
    SelectionMemory(place: .state(name))
  }

  /// The path of the file, or `nil`.
  package var path: String? {
    switch place {
    case .nowhere: nil
    case .file(let path): path
    case .state(let name): UserDirectory.state.path(of: name, suffix: "selection")
    }
  }

  /// Whether the selection belongs in the user's state directory, and the user has none.
  var lacksPlace: Bool { if case .state = place { path == nil } else { false } }

  // MARK: - Remembering

  /// Reads the remembered selection.
  func read(
    _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> RememberedSelection? {
    guard let path else { return nil }
    let text = try attempt(path, operation, StateFile(path: path).text())
    guard let text else { return nil }
    if let selection = RememberedSelection(text) { return selection }
    throw SecureStorageError(
      .damaged, operation: operation, backendName: "FirstAvailableStorage",
      message: "The file \(path.inOneLine) doesn't contain the name of the selected storage.",
      recoverySuggestion:
        "Write the name into it, or remove it to select the first available storage.")
  }

  /// Remembers a selection, unless one is already remembered.
  ///
  /// - Returns: The remembered selection, which may be that of another process.
  func remember(
    _ selection: RememberedSelection, _ operation: SecureStorageError.Operation
  ) throws(SecureStorageError) -> RememberedSelection {
    guard let path else { return selection }
    let isWritten = try attempt(
      path, operation, StateFile(path: path).write(selection.text, replacing: false))
    return try isWritten ? selection : read(operation) ?? selection
  }

  /// Replaces the remembered selection, or forgets it.
  func replace(with selection: RememberedSelection?) throws(SecureStorageError) {
    guard let path else {
      if selection == nil { return }
      throw SecureStorageError(
        .noStorage, operation: .save, backendName: "FirstAvailableStorage",
        message:
          "A selection can't be remembered, because there is neither XDG_STATE_HOME nor a home directory.",
        recoverySuggestion:
          "Set XDG_STATE_HOME, or use the storage directly instead of FirstAvailableStorage.")
    }
    let file = StateFile(path: path)
    if let selection {
      _ = try attempt(path, .save, file.write(selection.text, replacing: true))
    } else {
      try attempt(path, .save, file.remove())
    }
  }

  /// Returns the reason that is known to keep a selection from being remembered.
  func obstacle() -> SecureStorageError? {
    guard let path, let error = StateFile(path: path).obstacle() else { return nil }
    return failure(path, error, .diagnose)
  }

  private func attempt<Result>(
    _ path: String, _ operation: SecureStorageError.Operation,
    _ expression: @autoclosure () throws(FileFailure) -> Result
  ) throws(SecureStorageError) -> Result {
    try Swift.Result(catching: expression).mapError { failure(path, $0, operation) }.get()
  }

  private func failure(
    _ path: String, _ cause: FileFailure, _ operation: SecureStorageError.Operation
  ) -> SecureStorageError {
    let isState = if case .state = place { true } else { false }
    return SecureStorageError(
      cause.code, operation: operation, backendName: "FirstAvailableStorage",
      message: """
        The file \(path.inOneLine), which names the storage of this program's secrets, \(cause.problem).
        """,
      recoverySuggestion: "Let this user read and write it"
        + (isState ? ", or name another directory in XDG_STATE_HOME." : "."),
      underlying: cause.underlying)
  }
}
