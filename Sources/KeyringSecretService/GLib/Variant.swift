// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret

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

/// The path of an object on the bus.
struct ObjectPath: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  /// Indicates whether the path is the one that D-Bus uses for "no object".
  ///
  /// It means, for example, that no prompt is needed or that an alias doesn't exist.
  var isNone: Bool { text == "/" }

  /// Returns `true` if the path is that of an item in a collection.
  func isInside(_ collection: ObjectPath) -> Bool {
    text.hasPrefix(collection.text + "/")
  }

  /// The path of the item's collection.
  var collection: ObjectPath {
    ObjectPath(text.lastIndex(of: "/").map { String(text[..<$0]) } ?? text)
  }

  /// Returns the path that stands for the collection with an alias.
  ///
  /// The alias is resolved when a message arrives.
  static func collection(aliased name: String) -> ObjectPath { ObjectPath(aliases + name) }

  /// Indicates whether the path stands for the collection with an alias.
  var isAlias: Bool { text.hasPrefix(Self.aliases) }

  private static let aliases = "/org/freedesktop/secrets/aliases/"
}

// MARK: - References

/// A reference to a GLib object that's released with its last Swift owner.
///
/// The class is sendable because GLib's reference counts are atomic and any thread may use the objects it
/// holds (connections, the service, variants).
final class GLibReference: @unchecked Sendable {
  let pointer: OpaquePointer
  private let release: (OpaquePointer) -> Void

  private init(_ pointer: OpaquePointer, release: @escaping (OpaquePointer) -> Void) {
    self.pointer = pointer
    self.release = release
  }

  deinit { release(pointer) }

  /// Takes over the caller's reference to a GObject.
  ///
  /// - Parameters:
  ///   - pointer: The object.
  ///   - context: The main context in which the object leaves something to be freed, or `nil` for none.
  ///     GDBusProxy 2.74 leaves something.
  /// - Returns: The reference.
  static func object(
    adopting pointer: OpaquePointer, madeIn context: GLibReference? = nil
  ) -> GLibReference {
    GLibReference(pointer) {
      g_object_unref(gpointer($0))
      if let context { while g_main_context_iteration(context.pointer, 0) != 0 {} }
    }
  }

  /// Adds a reference to a main context.
  static func context(_ pointer: OpaquePointer) -> GLibReference {
    GLibReference(g_main_context_ref(pointer)) { g_main_context_unref($0) }
  }

  /// Takes over a full or floating reference to a GVariant.
  static func variant(adopting pointer: OpaquePointer) -> GLibReference {
    GLibReference(g_variant_take_ref(pointer)) { g_variant_unref($0) }
  }
}
#endif
