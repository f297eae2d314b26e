// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret
internal import KeyringPlatform

/// A D-Bus value: an owned GVariant that you build from and read as Swift values.
///
/// Check the type with ``isOfType(_:)`` before you read the value, because a provider may answer with
/// anything.
struct Variant: Sendable {
  private let reference: GLibReference

  var pointer: OpaquePointer { reference.pointer }

  /// Takes over a full or floating reference.
  init(adopting pointer: OpaquePointer) {
    reference = .variant(adopting: pointer)
  }
}

// MARK: - Building

// `withCString` lends GLib the text, while a string as an argument is copied.
extension Variant {
  static func string(_ text: String) -> Variant {
    Variant(adopting: text.withCString { g_variant_new_string($0) })
  }

  static func objectPath(_ path: ObjectPath) -> Variant {
    Variant(adopting: path.text.withCString { g_variant_new_object_path($0) })
  }

  static func boolean(_ value: Bool) -> Variant {
    Variant(adopting: g_variant_new_boolean(value ? 1 : 0))
  }

  static func unsigned32(_ value: UInt32) -> Variant {
    Variant(adopting: g_variant_new_uint32(value))
  }

  /// Creates a reference to one of the descriptors that a message takes along.
  static func handle(_ index: Int32) -> Variant {
    Variant(adopting: g_variant_new_handle(index))
  }

  static func tuple(_ members: [Variant]) -> Variant {
    Variant(adopting: g_variant_new_tuple(members.map(\.pointer), gsize(members.count)))
  }

  /// The value that stands for the missing one of an answer without arguments.
  static let empty = tuple([])

  static func objectPaths(_ paths: [ObjectPath]) -> Variant {
    array(of: "o", paths.map { $0.text.withCString { g_variant_new_object_path($0) } })
  }

  /// Creates a dictionary with text as keys and values, `a{ss}`.
  ///
  /// The method writes GLib's own format, because values for each text and each pair take several times as long.
  static func strings(_ values: some Collection<(key: String, value: String)>) -> Variant {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(256)
    var ends: [Int] = []
    for (key, value) in values {
      let start = bytes.count
      bytes.append(textOf: key)
      let end = bytes.count - start
      bytes.append(textOf: value)
      bytes.append(ends: CollectionOfOne(end), ofMembersFrom: start)
      ends.append(bytes.count)
    }
    bytes.append(ends: ends, ofMembersFrom: 0)
    let data = g_bytes_new(bytes, gsize(bytes.count))
    defer { g_bytes_unref(data) }
    return Variant(
      adopting: g_variant_new_from_bytes(("a{ss}" as StaticString).variantType, data, 1))
  }

  /// Creates a dictionary with text as keys and any values, `a{sv}`, as D-Bus expects for properties.
  static func properties(_ values: [String: Variant]) -> Variant {
    array(
      of: "{sv}",
      values.map {
        g_variant_new_dict_entry(
          g_variant_new_string($0.key), g_variant_new_variant($0.value.pointer))
      })
  }

  /// The value wrapped in a value of type `v`.
  var boxed: Variant { Variant(adopting: g_variant_new_variant(pointer)) }

  private static func array(of type: StaticString, _ members: [OpaquePointer?]) -> Variant {
    Variant(adopting: g_variant_new_array(type.variantType, members, gsize(members.count)))
  }

  /// A value whose type has the types of all frequent messages as its parts.
  ///
  /// GLib parses a type again if no value has it at the moment, so the package keeps this value.
  static let ofAllTypes = Variant(
    adopting: g_variant_new_from_data(
      ("(a{yv}(a{ss})(aoo)(ss)(s)(ao)(v)(a{sv})(a{o(oayays)})(o)((oayays))(a{sv}(oayays)b)(oo))"
        as StaticString).variantType,
      nil, 0, 0, nil, nil))
}

extension [UInt8] {
  /// Appends a text in the format of GVariant, which ends with a zero byte.
  fileprivate mutating func append(textOf string: String) {
    string.withCString {
      append(contentsOf: UnsafeRawBufferPointer(start: $0, count: strlen($0) + 1))
    }
  }

  /// Appends the end of an array or a dictionary entry in the format of GVariant.
  ///
  /// - Parameters:
  ///   - ends: The ends of the members. An entry has none for its last one.
  ///   - start: The start of the array or entry, from which the ends count.
  fileprivate mutating func append(ends: some Collection<Int>, ofMembersFrom start: Int) {
    // Each number is as small as the size of the whole allows, with these numbers.
    let body = count - start
    var size = 1
    while size < 8, body + ends.count * size >= 1 << (8 * size) { size *= 2 }
    for end in ends {
      Swift.withUnsafeBytes(of: end.littleEndian) { append(contentsOf: $0.prefix(size)) }
    }
  }
}

extension StaticString {
  /// The type in the notation of D-Bus, which GLib doesn't copy.
  fileprivate var variantType: OpaquePointer { OpaquePointer(utf8Start) }
}

// MARK: - Reading

extension Variant {
  /// Returns `true` for the type of the value, in the notation of D-Bus.
  func isOfType(_ type: StaticString) -> Bool {
    strcmp(
      g_variant_get_type_string(pointer),
      UnsafeRawPointer(type.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
  }

  /// The type in the notation of D-Bus.
  var type: String { String(cString: g_variant_get_type_string(pointer)) }

  var children: [Variant] {
    (0..<Int(g_variant_n_children(pointer))).map(child)
  }

  // Not inlined: dozens of places use it, and each would contain its code.
  @inline(never)
  func child(_ index: Int) -> Variant {
    Variant(adopting: g_variant_get_child_value(pointer, gsize(index)))
  }

  /// The text of a value of type `s` or `o`.
  var text: String { Self.text(pointer) }

  var bool: Bool { g_variant_get_boolean(pointer) != 0 }

  var unsigned: UInt64 { UInt64(g_variant_get_uint64(pointer)) }

  /// The number of a value of type `u`.
  var number: UInt32 { g_variant_get_uint32(pointer) }

  var paths: [ObjectPath] {
    var paths: [ObjectPath] = []
    Self.forEachChild(of: pointer) { paths.append(ObjectPath(Self.text($0))) }
    return paths
  }

  var strings: [String: String] {
    var strings: [String: String] = [:]
    Self.forEachChild(of: pointer) { entry in
      Self.withChild(0, of: entry) { key in
        Self.withChild(1, of: entry) { strings[Self.text(key)] = Self.text($0) }
      }
    }
    return strings
  }

  /// Returns the value in the answer to a request for a property, or `nil` for another type.
  func property(ofType type: StaticString) -> Variant? {
    let value = child(0).child(0)
    return value.isOfType(type) ? value : nil
  }

  /// Returns the member of an `a{sv}` with a name, unwrapped from its `v`.
  ///
  /// - Returns: The member, or `nil` for a missing one or another type.
  func member(_ name: String, ofType type: StaticString) -> Variant? {
    g_variant_lookup_value(pointer, name, type.variantType).map { Variant(adopting: $0) }
  }

  /// Calls a closure with each member of an `a{sv}`, unwrapped from its `v`.
  func forEachMember(_ body: (_ name: String, _ value: Variant) -> Void) {
    Self.forEachChild(of: pointer) { entry in
      Self.withChild(0, of: entry) { name in
        Self.withChild(1, of: entry) {
          body(Self.text(name), Variant(adopting: g_variant_get_variant($0)))
        }
      }
    }
  }

  // These functions need no reference of Swift's for each part of a value.

  private static func text(_ pointer: OpaquePointer) -> String {
    String(cString: g_variant_get_string(pointer, nil))
  }

  private static func withChild(
    _ index: Int, of pointer: OpaquePointer, _ body: (OpaquePointer) -> Void
  ) {
    guard let child = g_variant_get_child_value(pointer, gsize(index)) else { return }
    body(child)
    g_variant_unref(child)
  }

  private static func forEachChild(of pointer: OpaquePointer, _ body: (OpaquePointer) -> Void) {
    for index in 0..<Int(g_variant_n_children(pointer)) {
      withChild(index, of: pointer, body)
    }
  }
}
#endif
