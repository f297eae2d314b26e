// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret
internal import KeyringLibc

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

extension Variant {
  static func string(_ text: String) -> Variant {
    Variant(adopting: g_variant_new_string(text))
  }

  static func objectPath(_ path: ObjectPath) -> Variant {
    Variant(adopting: g_variant_new_object_path(path.text))
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
    build("r", members.map(\.pointer))
  }

  static func objectPaths(_ paths: [ObjectPath]) -> Variant {
    build("ao", paths.map { g_variant_new_object_path($0.text) })
  }

  /// Creates a dictionary with text as keys and values, `a{ss}`.
  static func strings(_ values: some Collection<(key: String, value: String)>) -> Variant {
    build(
      "a{ss}",
      values.map {
        g_variant_new_dict_entry(
          g_variant_new_string($0.key), g_variant_new_string($0.value))
      })
  }

  /// Creates a dictionary with text as keys and any values, `a{sv}`, as D-Bus expects for properties.
  static func properties(_ values: [String: Variant]) -> Variant {
    build(
      "a{sv}",
      values.map {
        g_variant_new_dict_entry(
          g_variant_new_string($0.key), g_variant_new_variant($0.value.pointer))
      })
  }

  /// The value wrapped in a value of type `v`.
  var boxed: Variant { Variant(adopting: g_variant_new_variant(pointer)) }

  private static func build(_ type: String, _ children: [OpaquePointer?]) -> Variant {
    let variantType = g_variant_type_new(type)
    defer { g_variant_type_free(variantType) }
    let builder = g_variant_builder_new(variantType)
    defer { g_variant_builder_unref(builder) }
    for child in children { g_variant_builder_add_value(builder, child) }
    return Variant(adopting: g_variant_builder_end(builder))
  }
}

// MARK: - Reading

extension Variant {
  /// Returns `true` if the value has a type, which is given in the notation of D-Bus.
  func isOfType(_ type: String) -> Bool {
    strcmp(g_variant_get_type_string(pointer), type) == 0
  }

  var children: [Variant] {
    (0..<g_variant_n_children(pointer)).map(child)
  }

  func child(_ index: Int) -> Variant { child(gsize(index)) }

  private func child(_ index: gsize) -> Variant {
    Variant(adopting: g_variant_get_child_value(pointer, index))
  }

  /// The text of a value of type `s` or `o`.
  var text: String { String(cString: g_variant_get_string(pointer, nil)) }

  var bool: Bool { g_variant_get_boolean(pointer) != 0 }

  var unsigned: UInt64 { UInt64(g_variant_get_uint64(pointer)) }

  /// The number of a value of type `u`.
  var number: UInt32 { g_variant_get_uint32(pointer) }

  var paths: [ObjectPath] { children.map { ObjectPath($0.text) } }

  var strings: [String: String] {
    Dictionary(
      children.map { ($0.child(0).text, $0.child(1).text) }, uniquingKeysWith: { $1 })
  }

  /// Returns the value in the answer to a request for a property, or `nil` if it has another type.
  func property(ofType type: String) -> Variant? {
    let value = child(0).child(0)
    return value.isOfType(type) ? value : nil
  }

  /// Returns the member of an `a{sv}` with a name, unwrapped from its `v`.
  ///
  /// - Returns: The member, or `nil` if it's missing or has another type.
  func member(_ name: String, ofType type: String) -> Variant? {
    let memberType = g_variant_type_new(type)
    defer { g_variant_type_free(memberType) }
    return g_variant_lookup_value(pointer, name, memberType).map { Variant(adopting: $0) }
  }
}

// MARK: - References

#endif
