// SPDX-License-Identifier: Apache-2.0

// Names and declarations of other libraries, for which the compiler prints those of this one.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NoLeadingUnderscores

public import KeyringCore
public import KeyringPlatform

@_documentation(visibility: private)
extension SecureProperty {
  @available(*, unavailable, renamed: "read()")
  public func get() throws -> Stored? { fatalError() }
  @available(*, unavailable, renamed: "write(_:)")
  public func set(_: Stored?) throws { fatalError() }
  @available(*, unavailable, renamed: "write(_:)")
  public func save(_: Stored?) throws { fatalError() }
  @available(*, unavailable, renamed: "remove()")
  public func delete() throws { fatalError() }
  @available(*, unavailable, renamed: "remove()")
  public func clear() throws { fatalError() }
  @available(*, unavailable, renamed: "failure")
  public var error: SecureStorageError? { fatalError() }
  @available(*, unavailable, renamed: "failure")
  public var lastError: SecureStorageError? { fatalError() }
}

@_documentation(visibility: private)
extension Password {
  @available(
    *, unavailable,
    message: """
      A password has no initial value. Write "default:" for a value that is never stored, or "orGenerate:" for one \
      that is.
      """
  )
  public init(wrappedValue: Value, _: String, service: String? = nil) { fatalError() }

  @available(*, unavailable, message: "Use @SecureValue: a password is a String? or a Secret?.")
  @_disfavoredOverload
  public init<Stored>(_: String, service: String? = nil) where Value == Stored? { fatalError() }
}

@_documentation(visibility: private)
extension Password where Value == String {
  @available(
    *, unavailable,
    message: "There may be no password. Declare it as String?, or add \"default:\"."
  )
  public init(_: String, service: String? = nil) { fatalError() }
}

// The compiler looks for these conformances before it looks for an initializer.

@available(*, unavailable)
extension Int: PasswordValue {}

@available(*, unavailable)
extension Data: PasswordValue {}
