// SPDX-License-Identifier: Apache-2.0

// The functions of libsecret and GLib that this package calls:
//
//   FUNCTION(LIBRARY, RESULT, NAME, (PARAMETER, ...), (ARGUMENT, ...))
//
// Each includer defines FUNCTION. .ci/check-c-declarations compares the list with the headers.

FUNCTION(
    LIBSECRET, SecretValue *, secret_service_decode_dbus_secret,
    (SecretService *service, GVariant *value),
    (service, value))
FUNCTION(
    LIBSECRET, GVariant *, secret_service_encode_dbus_secret,
    (SecretService *service, SecretValue *value),
    (service, value))
FUNCTION(LIBSECRET, GType, secret_service_flags_get_type, (void), ())
FUNCTION(
    LIBSECRET, const gchar *, secret_service_get_session_algorithms,
    (SecretService *self),
    (self))
FUNCTION(
    LIBSECRET, const gchar *, secret_service_get_session_dbus_path,
    (SecretService *self),
    (self))
FUNCTION(LIBSECRET, GType, secret_service_get_type, (void), ())
FUNCTION(
    LIBSECRET, const gchar *, secret_value_get,
    (SecretValue *value, gsize *length),
    (value, length))
FUNCTION(
    LIBSECRET, SecretValue *, secret_value_new_full,
    (gchar *secret, gssize length, const gchar *content_type, GDestroyNotify destroy),
    (secret, length, content_type, destroy))
FUNCTION(LIBSECRET, void, secret_value_unref, (gpointer value), (value))

FUNCTION(
    GIO, void, g_async_initable_init_async,
    (GAsyncInitable *initable, int io_priority, GCancellable *cancellable, GAsyncReadyCallback
    callback, gpointer user_data),
    (initable, io_priority, cancellable, callback, user_data))
FUNCTION(
    GIO, gboolean, g_async_initable_init_finish,
    (GAsyncInitable *initable, GAsyncResult *res, GError **error),
    (initable, res, error))
FUNCTION(GIO, GType, g_bus_type_get_type, (void), ())
FUNCTION(GIO, void, g_cancellable_cancel, (GCancellable *cancellable), (cancellable))
FUNCTION(GIO, GCancellable *, g_cancellable_new, (void), ())
FUNCTION(
    GIO, gchar *, g_dbus_address_get_for_bus_sync,
    (GBusType bus_type, GCancellable *cancellable, GError **error),
    (bus_type, cancellable, error))
FUNCTION(
    GIO, void, g_dbus_address_get_stream,
    (const gchar *address, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer
    user_data),
    (address, cancellable, callback, user_data))
FUNCTION(
    GIO, GIOStream *, g_dbus_address_get_stream_finish,
    (GAsyncResult *res, gchar **out_guid, GError **error),
    (res, out_guid, error))
FUNCTION(
    GIO, GVariant *, g_dbus_connection_call_finish,
    (GDBusConnection *connection, GAsyncResult *res, GError **error),
    (connection, res, error))
FUNCTION(
    GIO, void, g_dbus_connection_call_with_unix_fd_list,
    (GDBusConnection *connection, const gchar *bus_name, const gchar *object_path, const gchar
    *interface_name, const gchar *method_name, GVariant *parameters, const GVariantType
    *reply_type, GDBusCallFlags flags, gint timeout_msec, GUnixFDList *fd_list, GCancellable
    *cancellable, GAsyncReadyCallback callback, gpointer user_data),
    (connection, bus_name, object_path, interface_name, method_name, parameters, reply_type,
    flags, timeout_msec, fd_list, cancellable, callback, user_data))
FUNCTION(
    GIO, void, g_dbus_connection_close,
    (GDBusConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
    gpointer user_data),
    (connection, cancellable, callback, user_data))
FUNCTION(
    GIO, gboolean, g_dbus_connection_emit_signal,
    (GDBusConnection *connection, const gchar *destination_bus_name, const gchar *object_path,
    const gchar *interface_name, const gchar *signal_name, GVariant *parameters, GError **error),
    (connection, destination_bus_name, object_path, interface_name, signal_name, parameters,
    error))
FUNCTION(
    GIO, void, g_dbus_connection_flush,
    (GDBusConnection *connection, GCancellable *cancellable, GAsyncReadyCallback callback,
    gpointer user_data),
    (connection, cancellable, callback, user_data))
FUNCTION(GIO, GType, g_dbus_connection_get_type, (void), ())
FUNCTION(
    GIO, const gchar *, g_dbus_connection_get_unique_name,
    (GDBusConnection *connection),
    (connection))
FUNCTION(GIO, gboolean, g_dbus_connection_is_closed, (GDBusConnection *connection), (connection))
FUNCTION(
    GIO, void, g_dbus_connection_new,
    (GIOStream *stream, const gchar *guid, GDBusConnectionFlags flags, GDBusAuthObserver
    *observer, GCancellable *cancellable, GAsyncReadyCallback callback, gpointer user_data),
    (stream, guid, flags, observer, cancellable, callback, user_data))
FUNCTION(
    GIO, GDBusConnection *, g_dbus_connection_new_finish,
    (GAsyncResult *res, GError **error),
    (res, error))
FUNCTION(
    GIO, void, g_dbus_connection_send_message_with_reply,
    (GDBusConnection *connection, GDBusMessage *message, GDBusSendMessageFlags flags, gint
    timeout_msec, volatile guint32 *out_serial, GCancellable *cancellable, GAsyncReadyCallback
    callback, gpointer user_data),
    (connection, message, flags, timeout_msec, out_serial, cancellable, callback, user_data))
FUNCTION(
    GIO, GDBusMessage *, g_dbus_connection_send_message_with_reply_finish,
    (GDBusConnection *connection, GAsyncResult *res, GError **error),
    (connection, res, error))
FUNCTION(
    GIO, guint, g_dbus_connection_signal_subscribe,
    (GDBusConnection *connection, const gchar *sender, const gchar *interface_name, const gchar
    *member, const gchar *object_path, const gchar *arg0, GDBusSignalFlags flags,
    GDBusSignalCallback callback, gpointer user_data, GDestroyNotify user_data_free_func),
    (connection, sender, interface_name, member, object_path, arg0, flags, callback, user_data,
    user_data_free_func))
FUNCTION(
    GIO, void, g_dbus_connection_signal_unsubscribe,
    (GDBusConnection *connection, guint subscription_id),
    (connection, subscription_id))
FUNCTION(GIO, gchar *, g_dbus_error_get_remote_error, (const GError *error), (error))
FUNCTION(GIO, gboolean, g_dbus_error_strip_remote_error, (GError *error), (error))
FUNCTION(GIO, GVariant *, g_dbus_message_get_body, (GDBusMessage *message), (message))
FUNCTION(GIO, GDBusMessageType, g_dbus_message_get_message_type, (GDBusMessage *message), (message))
FUNCTION(GIO, const gchar *, g_dbus_message_get_sender, (GDBusMessage *message), (message))
FUNCTION(
    GIO, GDBusMessage *, g_dbus_message_new_method_call,
    (const gchar *name, const gchar *path, const gchar *interface_, const gchar *method),
    (name, path, interface_, method))
FUNCTION(
    GIO, void, g_dbus_message_set_body,
    (GDBusMessage *message, GVariant *body),
    (message, body))
FUNCTION(
    GIO, void, g_dbus_message_set_flags,
    (GDBusMessage *message, GDBusMessageFlags flags),
    (message, flags))
FUNCTION(GIO, GType, g_dbus_proxy_flags_get_type, (void), ())
FUNCTION(GIO, gchar *, g_dbus_proxy_get_name_owner, (GDBusProxy *proxy), (proxy))
FUNCTION(
    GIO, void, g_input_stream_read_bytes_async,
    (GInputStream *stream, gsize count, int io_priority, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer user_data),
    (stream, count, io_priority, cancellable, callback, user_data))
FUNCTION(
    GIO, GBytes *, g_input_stream_read_bytes_finish,
    (GInputStream *stream, GAsyncResult *result, GError **error),
    (stream, result, error))
FUNCTION(
    GIO, gint, g_unix_fd_list_append,
    (GUnixFDList *list, gint fd, GError **error),
    (list, fd, error))
FUNCTION(GIO, GUnixFDList *, g_unix_fd_list_new, (void), ())
FUNCTION(GIO, GInputStream *, g_unix_input_stream_new, (gint fd, gboolean close_fd), (fd, close_fd))

FUNCTION(
    GOBJECT, GObject *, g_object_new_with_properties,
    (GType object_type, guint n_properties, const char *names[], const GValue values[]),
    (object_type, n_properties, names, values))
FUNCTION(GOBJECT, gpointer, g_object_ref, (gpointer object), (object))
FUNCTION(
    GOBJECT, void, g_object_set_property,
    (GObject *object, const gchar *property_name, const GValue *value),
    (object, property_name, value))
FUNCTION(GOBJECT, void, g_object_unref, (gpointer object), (object))
FUNCTION(
    GOBJECT, gulong, g_signal_connect_data,
    (gpointer instance, const gchar *detailed_signal, GCallback c_handler, gpointer data,
    GClosureNotify destroy_data, GConnectFlags connect_flags),
    (instance, detailed_signal, c_handler, data, destroy_data, connect_flags))
FUNCTION(
    GOBJECT, void, g_signal_handler_disconnect,
    (gpointer instance, gulong handler_id),
    (instance, handler_id))
FUNCTION(GOBJECT, gpointer, g_type_class_peek, (GType type), (type))
FUNCTION(GOBJECT, void, g_type_query, (GType type, GTypeQuery *query), (type, query))
FUNCTION(
    GOBJECT, GType, g_type_register_static_simple,
    (GType parent_type, const gchar *type_name, guint class_size, GClassInitFunc class_init, guint
    instance_size, GInstanceInitFunc instance_init, GTypeFlags flags),
    (parent_type, type_name, class_size, class_init, instance_size, instance_init, flags))
FUNCTION(GOBJECT, GValue *, g_value_init, (GValue *value, GType g_type), (value, g_type))
FUNCTION(GOBJECT, void, g_value_set_enum, (GValue *value, gint v_enum), (value, v_enum))
FUNCTION(GOBJECT, void, g_value_set_flags, (GValue *value, guint v_flags), (value, v_flags))
FUNCTION(GOBJECT, void, g_value_set_object, (GValue *value, gpointer v_object), (value, v_object))
FUNCTION(GOBJECT, void, g_value_unset, (GValue *value), (value))

FUNCTION(GLIB, gconstpointer, g_bytes_get_data, (GBytes *bytes, gsize *size), (bytes, size))
FUNCTION(GLIB, void, g_bytes_unref, (GBytes *bytes), (bytes))
FUNCTION(GLIB, void, g_error_free, (GError *error), (error))
FUNCTION(GLIB, void, g_free, (gpointer mem), (mem))
FUNCTION(GLIB, const gchar *, g_getenv, (const gchar *variable), (variable))
FUNCTION(GLIB, gboolean, g_main_context_acquire, (GMainContext *context), (context))
FUNCTION(
    GLIB, gboolean, g_main_context_iteration,
    (GMainContext *context, gboolean may_block),
    (context, may_block))
FUNCTION(GLIB, GMainContext *, g_main_context_new, (void), ())
FUNCTION(GLIB, void, g_main_context_pop_thread_default, (GMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_push_thread_default, (GMainContext *context), (context))
FUNCTION(GLIB, GMainContext *, g_main_context_ref, (GMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_release, (GMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_unref, (GMainContext *context), (context))
FUNCTION(GLIB, void, g_main_context_wakeup, (GMainContext *context), (context))
FUNCTION(GLIB, const gchar *, g_quark_to_string, (GQuark quark), (quark))
FUNCTION(GLIB, guint, g_source_attach, (GSource *source, GMainContext *context), (source, context))
FUNCTION(GLIB, void, g_source_destroy, (GSource *source), (source))
FUNCTION(GLIB, gint64, g_source_get_ready_time, (GSource *source), (source))
FUNCTION(
    GLIB, void, g_source_set_callback,
    (GSource *source, GSourceFunc func, gpointer data, GDestroyNotify notify),
    (source, func, data, notify))
FUNCTION(
    GLIB, void, g_source_set_ready_time,
    (GSource *source, gint64 ready_time),
    (source, ready_time))
FUNCTION(GLIB, void, g_source_unref, (GSource *source), (source))
FUNCTION(GLIB, GSource *, g_timeout_source_new, (guint interval), (interval))
FUNCTION(
    GLIB, gboolean, g_unix_open_pipe,
    (gint *fds, gint flags, GError **error),
    (fds, flags, error))
FUNCTION(
    GLIB, gboolean, g_utf8_validate_len,
    (const gchar *str, gsize max_len, const gchar **end),
    (str, max_len, end))
FUNCTION(
    GLIB, void, g_variant_builder_add_value,
    (GVariantBuilder *builder, GVariant *value),
    (builder, value))
FUNCTION(GLIB, GVariant *, g_variant_builder_end, (GVariantBuilder *builder), (builder))
FUNCTION(GLIB, GVariantBuilder *, g_variant_builder_new, (const GVariantType *type), (type))
FUNCTION(GLIB, void, g_variant_builder_unref, (GVariantBuilder *builder), (builder))
FUNCTION(GLIB, gboolean, g_variant_get_boolean, (GVariant *value), (value))
FUNCTION(
    GLIB, GVariant *, g_variant_get_child_value,
    (GVariant *value, gsize index_),
    (value, index_))
FUNCTION(
    GLIB, const gchar *, g_variant_get_string,
    (GVariant *value, gsize *length),
    (value, length))
FUNCTION(GLIB, const gchar *, g_variant_get_type_string, (GVariant *value), (value))
FUNCTION(GLIB, guint32, g_variant_get_uint32, (GVariant *value), (value))
FUNCTION(GLIB, guint64, g_variant_get_uint64, (GVariant *value), (value))
FUNCTION(
    GLIB, GVariant *, g_variant_lookup_value,
    (GVariant *dictionary, const gchar *key, const GVariantType *expected_type),
    (dictionary, key, expected_type))
FUNCTION(GLIB, gsize, g_variant_n_children, (GVariant *value), (value))
FUNCTION(GLIB, GVariant *, g_variant_new_boolean, (gboolean value), (value))
FUNCTION(GLIB, GVariant *, g_variant_new_dict_entry, (GVariant *key, GVariant *value), (key, value))
FUNCTION(GLIB, GVariant *, g_variant_new_handle, (gint32 value), (value))
FUNCTION(GLIB, GVariant *, g_variant_new_object_path, (const gchar *object_path), (object_path))
FUNCTION(GLIB, GVariant *, g_variant_new_string, (const gchar *string), (string))
FUNCTION(GLIB, GVariant *, g_variant_new_uint32, (guint32 value), (value))
FUNCTION(GLIB, GVariant *, g_variant_new_variant, (GVariant *value), (value))
FUNCTION(GLIB, GVariant *, g_variant_ref, (GVariant *value), (value))
FUNCTION(GLIB, GVariant *, g_variant_take_ref, (GVariant *value), (value))
FUNCTION(GLIB, void, g_variant_type_free, (GVariantType *type), (type))
FUNCTION(GLIB, GVariantType *, g_variant_type_new, (const gchar *type_string), (type_string))
FUNCTION(GLIB, void, g_variant_unref, (GVariant *value), (value))

#undef FUNCTION
