#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why a storage could not do what it was asked.
///
/// Branch on ``code``; show ``message`` and ``advice`` to people; put the whole ``description`` in a
/// log, which is safe, because no error ever holds a secret. All of them are one line without control
/// characters, whatever names other programs have chosen for their items.
public struct SecureStorageError: Error, Sendable, Equatable {
  /// What the storage was doing.
  public struct Operation: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name of the operation, as messages give it.
    public let rawValue: String

    /// Makes an operation.
    ///
    /// - Parameter rawValue: The name of the operation.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// Finding items or reading their secrets.
    public static let read = Operation(rawValue: "read")
    /// Storing an item.
    public static let save = Operation(rawValue: "save")
    /// Removing items.
    public static let remove = Operation(rawValue: "remove")
    /// Locking the storage.
    public static let lock = Operation(rawValue: "lock")
    /// Unlocking the storage.
    public static let unlock = Operation(rawValue: "unlock")
    /// Waiting for changes.
    public static let observe = Operation(rawValue: "observe")
    /// Moving items from one place to another.
    public static let migrate = Operation(rawValue: "migrate")
    /// Finding out whether the storage works.
    public static let diagnose = Operation(rawValue: "diagnose")
    /// Making a collection.
    public static let createCollection = Operation(rawValue: "createCollection")
    /// Deleting a collection.
    public static let deleteCollection = Operation(rawValue: "deleteCollection")

    /// The name of the operation.
    public var description: String { rawValue }
  }

  /// The error underneath, as the library or service that reported it gives it.
  public struct Underlying: Sendable, Equatable, CustomStringConvertible {
    /// Who numbers the codes, for example "g-io-error-quark", or the name of a D-Bus error.
    public var domain: String { didSet { domain = domain.inOneLine } }
    /// The number within the domain.
    public var code: Int
    /// What it said.
    public var text: String { didSet { text = text.inOneLine } }

    /// Makes the description of an underlying error.
    ///
    /// - Parameters:
    ///   - domain: Who numbers the codes.
    ///   - code: The number within the domain.
    ///   - text: What it said.
    public init(domain: String, code: Int, text: String) {
      self.domain = domain.inOneLine
      self.code = code
      self.text = text.inOneLine
    }

    /// Domain, code and text in one line.
    public var description: String { "\(domain) \(code): \(text)" }
  }

  private struct Fields: Sendable, Equatable {
    var code: Code
    var operation: Operation
    var backend: String
    var message: String
    var advice: String
    var argument: String?
    var underlying: Underlying?
  }

  /// The fields, in a place of their own: a task that waits keeps room for an error in many frames.
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

  /// What kind of thing went wrong; what a program branches on.
  public var code: Code {
    get { fields.code }
    set { fields.code = newValue }
  }

  /// What the storage was doing.
  public var operation: Operation {
    get { fields.operation }
    set { fields.operation = newValue }
  }

  /// The storage that reports the error.
  public var backend: String {
    get { fields.backend }
    set { fields.backend = newValue.inOneLine }
  }

  /// What went wrong, for people: a sentence.
  public var message: String {
    get { fields.message }
    set { fields.message = newValue.inOneLine }
  }

  /// What to do about it, for people: a sentence.
  public var advice: String {
    get { fields.advice }
    set { fields.advice = newValue.inOneLine }
  }

  /// For `.invalidArgument`, the name of the argument that was refused.
  public var argument: String? {
    get { fields.argument }
    set { fields.argument = newValue }
  }

  /// The error underneath, if there was one.
  public var underlying: Underlying? {
    get { fields.underlying }
    set { fields.underlying = newValue }
  }

  /// Makes an error; whatever could break a line of its texts is taken out of it.
  ///
  /// - Parameters:
  ///   - code: What kind of thing went wrong.
  ///   - operation: What the storage was doing.
  ///   - backend: The storage that reports the error.
  ///   - message: What went wrong, for people; by default what the code means.
  ///   - advice: What to do about it, for people; by default what helps with that code.
  ///   - argument: The name of the argument that was refused.
  ///   - underlying: The error underneath.
  public init(
    _ code: Code,
    operation: Operation,
    backend: String,
    message: String? = nil,
    advice: String? = nil,
    argument: String? = nil,
    underlying: Underlying? = nil
  ) {
    storage = .fields(
      Fields(
        code: code, operation: operation, backend: backend.inOneLine,
        message: message?.inOneLine ?? code.meaning, advice: advice?.inOneLine ?? code.advice,
        argument: argument, underlying: underlying))
  }
}

extension SecureStorageError: CustomStringConvertible, LocalizedError {
  /// Everything known about the error in one line, without any secret.
  public var description: String {
    let cause = underlying.map { " [\($0)]" } ?? ""
    return "\(backend): \(operation) failed (\(code)). \(message) \(advice)\(cause)"
  }

  /// What went wrong, for people.
  public var errorDescription: String? { message }
  /// What to do about it, for people.
  public var recoverySuggestion: String? { advice }
  /// What the error underneath said.
  public var failureReason: String? { underlying?.text }
}
