// SPDX-License-Identifier: Apache-2.0

public import KeyringPlatform

/// An error that a storage throws.
///
/// Decide by its ``code``, and show ``message`` and ``recoverySuggestion`` to people. Its ``description``
/// is one line for a log, and no text contains a secret. A program that prints only ``errorDescription`` shows both
/// texts, too.
///
/// ```swift
/// do {
///   try storage.setPassword("s3cret", for: key)
/// } catch {
///   print(error.message, error.recoverySuggestion ?? "")
/// }
/// ```
public struct SecureStorageError: Error, Sendable, Equatable {
  /// An operation of a storage.
  public struct Operation: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the operation, as it appears in messages.
    public let rawValue: String

    /// Creates an operation.
    ///
    /// - Parameter rawValue: The name of the operation.
    @inlinable
    public init(rawValue: String) { self.rawValue = rawValue }

    // Inlined, because every call of a storage names its operation, and a text that short is a constant then.

    /// Finding items or reading their secrets.
    @inlinable public static var read: Operation { Operation(rawValue: "read") }
    /// Storing an item.
    @inlinable public static var save: Operation { Operation(rawValue: "save") }
    /// Removing items.
    @inlinable public static var remove: Operation { Operation(rawValue: "remove") }
    /// Waiting for a turn to change an item.
    @inlinable public static var takeTurn: Operation { Operation(rawValue: "takeTurn") }
    /// Locking the storage.
    @inlinable public static var lock: Operation { Operation(rawValue: "lock") }
    /// Unlocking the storage.
    @inlinable public static var unlock: Operation { Operation(rawValue: "unlock") }
    /// Waiting for changes.
    @inlinable public static var observe: Operation { Operation(rawValue: "observe") }
    /// Moving items from one place to another.
    @inlinable public static var migrate: Operation { Operation(rawValue: "migrate") }
    /// Checking whether the storage works.
    @inlinable public static var diagnose: Operation { Operation(rawValue: "diagnose") }
    /// Creating a collection.
    @inlinable public static var createCollection: Operation {
      Operation(rawValue: "createCollection")
    }
    /// Deleting a collection.
    @inlinable public static var deleteCollection: Operation {
      Operation(rawValue: "deleteCollection")
    }

    /// The name of the operation.
    public var description: String { rawValue }
  }

  /// An underlying error, as reported by the library or service that caused it.
  ///
  /// ```swift
  /// error(.other, during: .save, underlying: .init(domain: "http", code: 507, text: "insufficient storage"))
  /// ```
  public struct Underlying: Sendable, Equatable, CustomStringConvertible {
    /// The domain of the code, for example "g-io-error-quark" or the name of a D-Bus error.
    public var domain: String { didSet { domain = domain.excerpt } }
    /// The number of the error within the domain.
    public var code: Int
    /// The message of the error.
    public var text: String { didSet { text = text.excerpt } }

    /// Creates a description of an underlying error, with at most 500 bytes of each text.
    ///
    /// - Parameters:
    ///   - domain: The domain of the code.
    ///   - code: The number of the error within the domain.
    ///   - text: The message of the error.
    public init(domain: String, code: Int, text: String) {
      self.domain = domain.excerpt
      self.code = code
      self.text = text.excerpt
    }

    /// The domain, the code, and the text in one line.
    public var description: String { "\(domain) \(code): \(text)" }
  }

  private struct Fields: Sendable, Equatable {
    var code: Code
    var operation: Operation
    var backendName: String
    var message: String
    var recoverySuggestion: String
    var argument: String?
    var underlying: Underlying?
    var mayHaveItems = false
  }

  /// The fields, stored indirectly because a waiting task reserves space for an error in many frames.
  private indirect enum Storage: Sendable, Equatable {
    case fields(Fields)
  }

  private var storage: Storage

  private var fields: Fields {
    get {
      switch storage {
      case .fields(let fields): fields
      }
    }
    set { storage = .fields(newValue) }
  }

  /// The kind of the error, which programs use to decide what to do.
  ///
  /// ```swift
  /// if error.code == .locked { askToUnlock() }
  /// ```
  public var code: Code {
    get { fields.code }
    set { fields.code = newValue }
  }

  /// The operation that failed.
  public var operation: Operation {
    get { fields.operation }
    set { fields.operation = newValue }
  }

  /// The name of the storage that reports the error.
  public var backendName: String {
    get { fields.backendName }
    set { fields.backendName = newValue.inOneLine }
  }

  /// A sentence that tells people what went wrong.
  ///
  /// ```swift
  /// alert.title = error.message
  /// alert.text = error.recoverySuggestion ?? ""
  /// ```
  public var message: String {
    get { fields.message }
    set { fields.message = newValue.inOneLine }
  }

  /// A sentence that tells people what they can do about the error.
  ///
  /// It's never `nil`. If you assign `nil`, the property returns to the suggestion of the ``code``.
  public var recoverySuggestion: String? {
    get { fields.recoverySuggestion }
    set { fields.recoverySuggestion = newValue?.inOneLine ?? code.recoverySuggestion }
  }

  /// The name of the refused argument, if the code is `.invalidArgument`.
  ///
  /// ```swift
  /// if error.argument == "account" { show("Enter the name of an account.") }
  /// ```
  public var argument: String? {
    get { fields.argument }
    set { fields.argument = newValue }
  }

  /// The underlying error, if there is one.
  public var underlying: Underlying? {
    get { fields.underlying }
    set { fields.underlying = newValue }
  }

  /// Whether the storage may have items, whatever the code says.
  package var mayHaveItems: Bool {
    get { fields.mayHaveItems }
    set { fields.mayHaveItems = newValue }
  }

  /// Creates an error.
  ///
  /// In the texts of the error, the initializer replaces characters that could break a line.
  ///
  /// ```swift
  /// throw SecureStorageError(.locked, operation: .read, backendName: "RemoteStorage")
  /// ```
  ///
  /// - Parameters:
  ///   - code: The kind of the error.
  ///   - operation: The operation that failed.
  ///   - backendName: The name of the storage that reports the error.
  ///   - message: A sentence that tells people what went wrong. The default is the meaning of the code.
  ///   - recoverySuggestion: A sentence that tells people what they can do about the error. The default is
  ///     the suggestion of the code.
  ///   - argument: The name of the refused argument.
  ///   - underlying: The underlying error.
  public init(
    _ code: Code,
    operation: Operation,
    backendName: String,
    message: String? = nil,
    recoverySuggestion: String? = nil,
    argument: String? = nil,
    underlying: Underlying? = nil
  ) {
    storage = .fields(
      Fields(
        code: code, operation: operation, backendName: backendName.inOneLine,
        message: message?.inOneLine ?? code.meaning,
        recoverySuggestion: recoverySuggestion?.inOneLine ?? code.recoverySuggestion,
        argument: argument, underlying: underlying))
  }

  /// Returns the same error for another operation.
  package func during(_ operation: Operation) -> SecureStorageError {
    var error = self
    error.operation = operation
    return error
  }
}

extension SecureStorageError: CustomStringConvertible, LocalizedError {
  /// All information about the error in one line, without any secret.
  public var description: String {
    "\(backendName): \(operation) \(code == .mainLoopBlocked ? "took long" : "failed") (\(code)). \(text)"
  }

  /// The message of the error, what to do about it, and the underlying error.
  public var errorDescription: String? { text }

  private var text: String {
    "\(message) \(fields.recoverySuggestion)\(underlying.map { " [\($0)]" } ?? "")"
  }

  /// The message of the underlying error.
  public var failureReason: String? { underlying?.text }
}

extension SecureStorageError.Code {
  /// Returns `true` if an error has a code, so that a `catch` clause can name a code.
  ///
  /// > Important: End with a plain `catch`. Without one, the compiler of Swift 6.3 may crash: "Found ownership error?!"
  ///
  /// ```swift
  /// do {
  ///   try settings.$authToken.write("s3cret")
  /// } catch .userCanceled {
  ///   print("Nothing was stored.")
  /// } catch {
  ///   print(error)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - code: The code.
  ///   - error: The error, which can be of any type.
  /// - Returns: `true` if the error is a `SecureStorageError` with this code.
  public static func ~= (code: Self, error: any Error) -> Bool {
    (error as? SecureStorageError)?.code == code
  }
}
