// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CLibSecret

/// A subclass of libsecret's SecretService that uses a given connection.
///
/// libsecret's own class always uses the process's shared connection to the session bus. That connection
/// belongs to the app, and once it's lost it stays closed for the life of the process. libsecret's class is
/// made to be subclassed. After its constructor has chosen the bus, the subclass resets that choice. It
/// also turns off the properties and signals that this package never reads.
enum SecretServiceClass {
  static let type: GType = {
    let parent = secret_service_get_type()
    var query = GTypeQuery()
    g_type_query(parent, &query)
    return g_type_register_static_simple(
      parent, "SwiftKeyringSecretService", query.class_size, initializeClass,
      query.instance_size, nil, GTypeFlags(rawValue: 0))
  }()

  private static let initializeClass: GClassInitFunc = { gClass, _ in
    gClass?.assumingMemoryBound(to: GObjectClass.self).pointee.constructor = {
      type, count, parameters in
      let parent = g_type_class_peek(secret_service_get_type())
      let object = parent?.assumingMemoryBound(to: GObjectClass.self)
        .pointee.constructor(type, count, parameters)
      guard let object else { return nil }
      set(object, "g-bus-type", g_bus_type_get_type()) {
        g_value_set_enum($0, gint(bitPattern: 0))
      }
      set(object, "g-flags", g_dbus_proxy_flags_get_type()) {
        g_value_set_flags(
          $0,
          G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES.rawValue
            | G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS.rawValue)
      }
      return object
    }
  }

  private static func set(
    _ object: UnsafeMutablePointer<GObject>, _ property: String, _ type: GType,
    _ fill: (UnsafeMutablePointer<GValue>) -> Void
  ) {
    var value = GValue()
    g_value_init(&value, type)
    fill(&value)
    g_object_set_property(object, property, &value)
    g_value_unset(&value)
  }
}
#endif
