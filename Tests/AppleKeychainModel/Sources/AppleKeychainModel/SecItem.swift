// SPDX-License-Identifier: Apache-2.0
// The functions that the Security module declares.

public import CoreFoundation
import Security
import Synchronization

/// Adds an item.
@_cdecl("SecItemAdd")
public func secItemAdd(
  _ attributes: CFDictionary, _ result: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> OSStatus {
  status(attributes, result) { try KeychainModel.current.add($0) }
}

/// Finds items.
@_cdecl("SecItemCopyMatching")
public func secItemCopyMatching(
  _ query: CFDictionary, _ result: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> OSStatus {
  status(query, result) { try KeychainModel.current.copyMatching($0) }
}

/// Changes items.
@_cdecl("SecItemUpdate")
public func secItemUpdate(_ query: CFDictionary, _ changes: CFDictionary) -> OSStatus {
  status(query, nil) { query in
    guard case .dictionary(let changes) = Value(changes) else { throw Refusal(errSecParam) }
    try KeychainModel.current.update(query, changes)
    return nil
  }
}

/// Deletes items.
@_cdecl("SecItemDelete")
public func secItemDelete(_ query: CFDictionary) -> OSStatus {
  status(query, nil) { query in
    try KeychainModel.current.delete(query)
    return nil
  }
}

/// Asks whether the default file can be used; its status stays as it is.
@_cdecl("SecKeychainGetStatus")
public func secKeychainGetStatus(
  _ keychain: UnsafeRawPointer?, _ result: UnsafeMutablePointer<UInt32>?
) -> OSStatus {
  status { try KeychainModel.current.checkFile() }
}

/// Makes an access control, as an array that the model knows again.
///
/// Its error stays unset.
@_cdecl("SecAccessControlCreateWithFlags")
public func secAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: CFTypeRef, _ flags: UInt,
  _ error: UnsafeMutablePointer<UnsafeRawPointer?>?
) -> UnsafeRawPointer? {
  let control = AccessControl(level: Value(protection), flags: Int64(flags))
  return control.map { retained($0.value.object) }
}

/// The type of an access control.
@_cdecl("SecAccessControlGetTypeID")
public func secAccessControlGetTypeID() -> CFTypeID { CFArrayGetTypeID() }

/// A text for a status.
///
/// Apple's texts are its own; SecBase.cpp has this form for a status it doesn't know.
@_cdecl("SecCopyErrorMessageString")
public func secCopyErrorMessageString(
  _ status: OSStatus, _ reserved: UnsafeRawPointer?
) -> UnsafeRawPointer? {
  retained(Value.text(Array("OSStatus \(status)".utf8)).object)
}

/// A constant of the Security module.
///
/// Constants live for ever.
@_cdecl("SecStandInConstant")
public func secStandInConstant(_ value: UnsafePointer<CChar>) -> UnsafeRawPointer {
  constants.withLock { constants in
    let value = String(cString: value)
    if let known = constants[value] { return known }
    let constant = retained(Value.text(Array(value.utf8)).object)
    constants[value] = constant
    return constant
  }
}

private let constants = Mutex<[String: UnsafeRawPointer]>([:])

private func retained(_ object: CFTypeRef) -> UnsafeRawPointer {
  UnsafeRawPointer(Unmanaged.passRetained(object).toOpaque())
}

private func status(
  _ dictionary: CFDictionary, _ result: UnsafeMutablePointer<UnsafeRawPointer?>?,
  _ body: ([String: Value]) throws -> Value?
) -> OSStatus {
  result?.pointee = nil
  return status {
    guard case .dictionary(let entries) = Value(dictionary) else { throw Refusal(errSecParam) }
    let value = try body(entries)
    result?.pointee = value.map { retained($0.object) }
  }
}

private func status(_ body: () throws -> Void) -> OSStatus {
  do {
    try body()
    return errSecSuccess
  } catch {
    return (error as? Refusal)?.status ?? errSecUnimplemented
  }
}
