// SPDX-License-Identifier: Apache-2.0

// The functions of libsecret and GLib that this package calls:
//
//   FUNCTION(LIBRARY, RESULT, NAME, (PARAMETER, ...), (ARGUMENT, ...))
//
// Each includer defines FUNCTION. .ci/check-c-declarations compares the list with the headers.

FUNCTION(
    LIBSECRET, KeyringSecretValue *, secret_service_decode_dbus_secret,
    (KeyringSecretService *service, KeyringGVariant *value),
    (service, value))
FUNCTION(
    LIBSECRET, KeyringGVariant *, secret_service_encode_dbus_secret,
    (KeyringSecretService *service, KeyringSecretValue *value),
    (service, value))
FUNCTION(
    LIBSECRET, void, secret_service_ensure_session,
    (KeyringSecretService *self, KeyringGCancellable *cancellable, KeyringGAsyncReadyCallback callback, gpointer
    user_data),
    (self, cancellable, callback, user_data))
FUNCTION(
    LIBSECRET, gboolean, secret_service_ensure_session_finish,
    (KeyringSecretService *self, KeyringGAsyncResult *result, KeyringGError **error),
    (self, result, error))
FUNCTION(
    LIBSECRET, const gchar *, secret_service_get_session_algorithms,
    (KeyringSecretService *self),
    (self))
FUNCTION(
    LIBSECRET, const gchar *, secret_service_get_session_dbus_path,
    (KeyringSecretService *self),
    (self))
FUNCTION(LIBSECRET, GType, secret_service_get_type, (void), ())
FUNCTION(
    LIBSECRET, const gchar *, secret_value_get,
    (KeyringSecretValue *value, gsize *length),
    (value, length))
FUNCTION(
    LIBSECRET, KeyringSecretValue *, secret_value_new_full,
    (gchar *secret, gssize length, const gchar *content_type, KeyringGDestroyNotify destroy),
    (secret, length, content_type, destroy))
FUNCTION(LIBSECRET, void, secret_value_unref, (gpointer value), (value))

FUNCTION(
    GIO, void, g_async_initable_init_async,
    (KeyringGAsyncInitable *initable, int io_priority, KeyringGCancellable *cancellable, KeyringGAsyncReadyCallback
    callback, gpointer user_data),
    (initable, io_priority, cancellable, callback, user_data))
FUNCTION(
    GIO, gboolean, g_async_initable_init_finish,
    (KeyringGAsyncInitable *initable, KeyringGAsyncResult *res, KeyringGError **error),
    (initable, res, error))
FUNCTION(GIO, GType, g_bus_type_get_type, (void), ())
FUNCTION(GIO, void, g_cancellable_cancel, (KeyringGCancellable *cancellable), (cancellable))
FUNCTION(GIO, KeyringGCancellable *, g_cancellable_new, (void), ())
FUNCTION(
    GIO, gchar *, g_dbus_address_get_for_bus_sync,
    (KeyringGBusType bus_type, KeyringGCancellable *cancellable, KeyringGError **error),
    (bus_type, cancellable, error))
FUNCTION(
    GIO, void, g_dbus_address_get_stream,
    (const gchar *address, KeyringGCancellable *cancellable, KeyringGAsyncReadyCallback callback, gpointer
    user_data),
    (address, cancellable, callback, user_data))
FUNCTION(
    GIO, KeyringGIOStream *, g_dbus_address_get_stream_finish,
    (KeyringGAsyncResult *res, gchar **out_guid, KeyringGError **error),
    (res, out_guid, error))
FUNCTION(
    GIO, void, g_dbus_connection_flush,
    (KeyringGDBusConnection *connection, KeyringGCancellable *cancellable, KeyringGAsyncReadyCallback callback,
    gpointer user_data),
    (connection, cancellable, callback, user_data))
FUNCTION(GIO, GType, g_dbus_connection_get_type, (void), ())
FUNCTION(
    GIO, const gchar *, g_dbus_connection_get_unique_name,
    (KeyringGDBusConnection *connection),
    (connection))
FUNCTION(GIO, gboolean, g_dbus_connection_is_closed, (KeyringGDBusConnection *connection), (connection))
FUNCTION(
    GIO, void, g_dbus_connection_new,
    (KeyringGIOStream *stream, const gchar *guid, KeyringGDBusConnectionFlags flags, KeyringGDBusAuthObserver
    *observer, KeyringGCancellable *cancellable, KeyringGAsyncReadyCallback callback, gpointer user_data),
    (stream, guid, flags, observer, cancellable, callback, user_data))
FUNCTION(
    GIO, KeyringGDBusConnection *, g_dbus_connection_new_finish,
    (KeyringGAsyncResult *res, KeyringGError **error),
    (res, error))
FUNCTION(
    GIO, gboolean, g_dbus_connection_send_message,
    (KeyringGDBusConnection *connection, KeyringGDBusMessage *message, KeyringGDBusSendMessageFlags flags,
    volatile guint32 *out_serial, KeyringGError **error),
    (connection, message, flags, out_serial, error))
FUNCTION(
    GIO, void, g_dbus_connection_send_message_with_reply,
    (KeyringGDBusConnection *connection, KeyringGDBusMessage *message, KeyringGDBusSendMessageFlags flags, gint
    timeout_msec, volatile guint32 *out_serial, KeyringGCancellable *cancellable, KeyringGAsyncReadyCallback
    callback, gpointer user_data),
    (connection, message, flags, timeout_msec, out_serial, cancellable, callback, user_data))
FUNCTION(
    GIO, KeyringGDBusMessage *, g_dbus_connection_send_message_with_reply_finish,
    (KeyringGDBusConnection *connection, KeyringGAsyncResult *res, KeyringGError **error),
    (connection, res, error))
FUNCTION(
    GIO, guint, g_dbus_connection_signal_subscribe,
    (KeyringGDBusConnection *connection, const gchar *sender, const gchar *interface_name, const gchar
    *member, const gchar *object_path, const gchar *arg0, KeyringGDBusSignalFlags flags,
    KeyringGDBusSignalCallback callback, gpointer user_data, KeyringGDestroyNotify user_data_free_func),
    (connection, sender, interface_name, member, object_path, arg0, flags, callback, user_data,
    user_data_free_func))
FUNCTION(
    GIO, void, g_dbus_connection_signal_unsubscribe,
    (KeyringGDBusConnection *connection, guint subscription_id),
    (connection, subscription_id))
FUNCTION(GIO, gchar *, g_dbus_error_get_remote_error, (const KeyringGError *error), (error))
FUNCTION(GIO, gboolean, g_dbus_error_strip_remote_error, (KeyringGError *error), (error))
FUNCTION(GIO, KeyringGVariant *, g_dbus_message_get_body, (KeyringGDBusMessage *message), (message))
FUNCTION(GIO, const gchar *, g_dbus_message_get_sender, (KeyringGDBusMessage *message), (message))
FUNCTION(GIO, KeyringGDBusMessage *, g_dbus_message_new, (void), ())
FUNCTION(
    GIO, void, g_dbus_message_set_body,
    (KeyringGDBusMessage *message, KeyringGVariant *body),
    (message, body))
FUNCTION(
    GIO, void, g_dbus_message_set_flags,
    (KeyringGDBusMessage *message, KeyringGDBusMessageFlags flags),
    (message, flags))
FUNCTION(
    GIO, void, g_dbus_message_set_header,
    (KeyringGDBusMessage *message, KeyringGDBusMessageHeaderField header_field, KeyringGVariant *value),
    (message, header_field, value))
FUNCTION(
    GIO, void, g_dbus_message_set_message_type,
    (KeyringGDBusMessage *message, KeyringGDBusMessageType type),
    (message, type))
FUNCTION(
    GIO, void, g_dbus_message_set_unix_fd_list,
    (KeyringGDBusMessage *message, KeyringGUnixFDList *fd_list),
    (message, fd_list))
FUNCTION(
    GIO, gboolean, g_dbus_message_to_gerror,
    (KeyringGDBusMessage *message, KeyringGError **error),
    (message, error))
FUNCTION(GIO, GType, g_dbus_proxy_flags_get_type, (void), ())
FUNCTION(GIO, gchar *, g_dbus_proxy_get_name_owner, (KeyringGDBusProxy *proxy), (proxy))
FUNCTION(
    GIO, void, g_input_stream_read_bytes_async,
    (KeyringGInputStream *stream, gsize count, int io_priority, KeyringGCancellable *cancellable,
    KeyringGAsyncReadyCallback callback, gpointer user_data),
    (stream, count, io_priority, cancellable, callback, user_data))
FUNCTION(
    GIO, KeyringGBytes *, g_input_stream_read_bytes_finish,
    (KeyringGInputStream *stream, KeyringGAsyncResult *result, KeyringGError **error),
    (stream, result, error))
FUNCTION(
    GIO, gint, g_unix_fd_list_append,
    (KeyringGUnixFDList *list, gint fd, KeyringGError **error),
    (list, fd, error))
FUNCTION(GIO, KeyringGUnixFDList *, g_unix_fd_list_new, (void), ())
FUNCTION(GIO, KeyringGInputStream *, g_unix_input_stream_new, (gint fd, gboolean close_fd), (fd, close_fd))

FUNCTION(
    GOBJECT, KeyringGObject *, g_object_new_with_properties,
    (GType object_type, guint n_properties, const char *names[], const KeyringGValue values[]),
    (object_type, n_properties, names, values))
FUNCTION(GOBJECT, gpointer, g_object_ref, (gpointer object), (object))
FUNCTION(
    GOBJECT, void, g_object_set_property,
    (KeyringGObject *object, const gchar *property_name, const KeyringGValue *value),
    (object, property_name, value))
FUNCTION(GOBJECT, void, g_object_unref, (gpointer object), (object))
FUNCTION(
    GOBJECT, gulong, g_signal_connect_data,
    (gpointer instance, const gchar *detailed_signal, KeyringGCallback c_handler, gpointer data,
    KeyringGClosureNotify destroy_data, KeyringGConnectFlags connect_flags),
    (instance, detailed_signal, c_handler, data, destroy_data, connect_flags))
FUNCTION(
    GOBJECT, void, g_signal_handler_disconnect,
    (gpointer instance, gulong handler_id),
    (instance, handler_id))
FUNCTION(GOBJECT, gpointer, g_type_class_peek, (GType type), (type))
FUNCTION(GOBJECT, void, g_type_query, (GType type, KeyringGTypeQuery *query), (type, query))
FUNCTION(
    GOBJECT, GType, g_type_register_static_simple,
    (GType parent_type, const gchar *type_name, guint class_size, KeyringGClassInitFunc class_init, guint
    instance_size, KeyringGInstanceInitFunc instance_init, KeyringGTypeFlags flags),
    (parent_type, type_name, class_size, class_init, instance_size, instance_init, flags))
FUNCTION(GOBJECT, KeyringGValue *, g_value_init, (KeyringGValue *value, GType g_type), (value, g_type))
FUNCTION(GOBJECT, void, g_value_set_enum, (KeyringGValue *value, gint v_enum), (value, v_enum))
FUNCTION(GOBJECT, void, g_value_set_flags, (KeyringGValue *value, guint v_flags), (value, v_flags))
FUNCTION(GOBJECT, void, g_value_set_object, (KeyringGValue *value, gpointer v_object), (value, v_object))
FUNCTION(GOBJECT, void, g_value_unset, (KeyringGValue *value), (value))

FUNCTION(GLIB, gconstpointer, g_bytes_get_data, (KeyringGBytes *bytes, gsize *size), (bytes, size))
FUNCTION(GLIB, KeyringGBytes *, g_bytes_new, (gconstpointer data, gsize size), (data, size))
FUNCTION(GLIB, void, g_bytes_unref, (KeyringGBytes *bytes), (bytes))
FUNCTION(GLIB, void, g_error_free, (KeyringGError *error), (error))
FUNCTION(GLIB, void, g_free, (gpointer mem), (mem))
FUNCTION(GLIB, const gchar *, g_getenv, (const gchar *variable), (variable))
FUNCTION(GLIB, gboolean, g_main_context_acquire, (KeyringGMainContext *context), (context))
FUNCTION(
    GLIB, gboolean, g_main_context_iteration,
    (KeyringGMainContext *context, gboolean may_block),
    (context, may_block))
FUNCTION(GLIB, KeyringGMainContext *, g_main_context_new, (void), ())
FUNCTION(GLIB, void, g_main_context_pop_thread_default, (KeyringGMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_push_thread_default, (KeyringGMainContext *context), (context))
FUNCTION(GLIB, KeyringGMainContext *, g_main_context_ref, (KeyringGMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_release, (KeyringGMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_unref, (KeyringGMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_wakeup, (KeyringGMainContext *context), (context))
FUNCTION(GLIB, const gchar *, g_quark_to_string, (GQuark quark), (quark))
FUNCTION(GLIB, guint, g_source_attach, (KeyringGSource *source, KeyringGMainContext *context), (source, context))
FUNCTION(GLIB, void, g_source_destroy, (KeyringGSource *source), (source))
FUNCTION(GLIB, gint64, g_source_get_ready_time, (KeyringGSource *source), (source))
FUNCTION(
    GLIB, void, g_source_set_callback,
    (KeyringGSource *source, KeyringGSourceFunc func, gpointer data, KeyringGDestroyNotify notify),
    (source, func, data, notify))
FUNCTION(
    GLIB, void, g_source_set_ready_time,
    (KeyringGSource *source, gint64 ready_time),
    (source, ready_time))
FUNCTION(GLIB, void, g_source_unref, (KeyringGSource *source), (source))
FUNCTION(GLIB, KeyringGSource *, g_timeout_source_new, (guint interval), (interval))
FUNCTION(
    GLIB, gboolean, g_unix_open_pipe,
    (gint *fds, gint flags, KeyringGError **error),
    (fds, flags, error))
FUNCTION(
    GLIB, gboolean, g_utf8_validate_len,
    (const gchar *str, gsize max_len, const gchar **end),
    (str, max_len, end))
FUNCTION(GLIB, gboolean, g_variant_get_boolean, (KeyringGVariant *value), (value))
FUNCTION(
    GLIB, KeyringGVariant *, g_variant_get_child_value,
    (KeyringGVariant *value, gsize index_),
    (value, index_))
FUNCTION(
    GLIB, const gchar *, g_variant_get_string,
    (KeyringGVariant *value, gsize *length),
    (value, length))
FUNCTION(GLIB, const gchar *, g_variant_get_type_string, (KeyringGVariant *value), (value))
FUNCTION(GLIB, guint32, g_variant_get_uint32, (KeyringGVariant *value), (value))
FUNCTION(GLIB, guint64, g_variant_get_uint64, (KeyringGVariant *value), (value))
FUNCTION(GLIB, KeyringGVariant *, g_variant_get_variant, (KeyringGVariant *value), (value))
FUNCTION(
    GLIB, KeyringGVariant *, g_variant_lookup_value,
    (KeyringGVariant *dictionary, const gchar *key, const KeyringGVariantType *expected_type),
    (dictionary, key, expected_type))
FUNCTION(GLIB, gsize, g_variant_n_children, (KeyringGVariant *value), (value))
FUNCTION(
    GLIB, KeyringGVariant *, g_variant_new_array,
    (const KeyringGVariantType *child_type, KeyringGVariant *const *children, gsize n_children),
    (child_type, children, n_children))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_boolean, (gboolean value), (value))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_dict_entry, (KeyringGVariant *key, KeyringGVariant *value), (key, value))
FUNCTION(
    GLIB, KeyringGVariant *, g_variant_new_from_bytes,
    (const KeyringGVariantType *type, KeyringGBytes *bytes, gboolean trusted),
    (type, bytes, trusted))
FUNCTION(
    GLIB, KeyringGVariant *, g_variant_new_from_data,
    (const KeyringGVariantType *type, gconstpointer data, gsize size, gboolean trusted, KeyringGDestroyNotify
    notify, gpointer user_data),
    (type, data, size, trusted, notify, user_data))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_handle, (gint32 value), (value))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_object_path, (const gchar *object_path), (object_path))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_string, (const gchar *string), (string))
FUNCTION(
    GLIB, KeyringGVariant *, g_variant_new_tuple,
    (KeyringGVariant *const *children, gsize n_children),
    (children, n_children))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_uint32, (guint32 value), (value))
FUNCTION(GLIB, KeyringGVariant *, g_variant_new_variant, (KeyringGVariant *value), (value))
FUNCTION(GLIB, KeyringGVariant *, g_variant_ref, (KeyringGVariant *value), (value))
FUNCTION(GLIB, KeyringGVariant *, g_variant_take_ref, (KeyringGVariant *value), (value))
FUNCTION(GLIB, void, g_variant_unref, (KeyringGVariant *value), (value))

#undef FUNCTION
