// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// The form that an attribute's value is turned into when it is stored or searched for.
enum AttributeKind {
  case blob
  case text
  case number
  case date
  /// A number from 0 or 1, given back as a Boolean. Only the file-based keychain has it.
  case boolean
  /// Data, or the bytes of a text. Only the file-based keychain has it.
  case data
  /// One of some constants; any other value, empty text too, is four zero bytes. Only the file-based keychain has it.
  case code(Set<String>)

  /// SecDbItem.c (copyBlob, copyString, copyNumber, copyDate): nil is an invalid value.
  func dataProtection(_ value: Value) -> Value? {
    switch (self, value) {
    case (.blob, .text), (.blob, .data), (.blob, .number), (.text, .text), (.date, .date): value
    case (.text, .data(let bytes)): .text(bytes)
    case (.number, .number): value
    case (.number, .boolean), (.number, .text): value.integer.map(Value.number) ?? value
    default: nil
    }
  }

  /// SecItem.cpp (CloneDataByType): a generic password's values.
  ///
  /// A wrong type is an empty value, and a text ends at its first NUL.
  func fileGeneric(_ value: Value) -> Value {
    switch (self, value) {
    case (.blob, .text(let bytes)): .text(Self.beforeNUL(bytes))
    case (.data, .text(let bytes)): .data(Self.beforeNUL(bytes))
    case (.data, .data), (.number, .number), (.boolean, .boolean): value
    case (.date, .date(let date)): .date(date.rounded(.down))
    case (.data, _): .data([])
    default: .text([])
    }
  }

  /// SecItem.cpp (_CreateSecKeychainInternetPasswordAttributeListFromDictionary): an internet
  /// password's values.
  ///
  /// Text is kept whole. _SecAuthenticationTypeForSecAttrAuthenticationType and its like for protocols make four zero
  /// bytes of what they don't know.
  func fileInternet(_ value: Value) throws -> Value {
    switch (self, value) {
    case (.blob, .text), (.boolean, .boolean): return value
    case (.number, _):
      guard let number = value.integer else { throw Refusal(errSecParam) }
      return .number(number)
    case (.code(let known), _):
      return value.string.map(known.contains) == true ? value : .number(0)
    default: throw Refusal(errSecParam)
    }
  }

  static func beforeNUL(_ bytes: [UInt8]) -> [UInt8] { Array(bytes.prefix { $0 != 0 }) }
}
