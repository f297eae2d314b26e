// SPDX-License-Identifier: Apache-2.0

// libsecret and GLib, which are loaded when a program first uses the keyring. Decisions/0001 has the reasons.

#pragma once

#if KEYRING_COMPARES_DECLARATIONS

#define SECRET_API_SUBJECT_TO_CHANGE 1
#define SECRET_WITH_UNSTABLE 1
#include <gio/gio.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <libsecret/secret.h>

#else

#include <stdint.h>

typedef char gchar;
typedef int gint;
typedef unsigned int guint;
typedef unsigned long gulong;
typedef int gboolean;
typedef int32_t gint32;
typedef uint32_t guint32;
typedef int64_t gint64;
typedef uint64_t guint64;
// Swift would make a signed number of a size_t.
typedef __SIZE_TYPE__ gsize;
typedef __PTRDIFF_TYPE__ gssize;
typedef void *gpointer;
typedef const void *gconstpointer;
typedef gsize GType;
typedef guint32 GQuark;

#define G_PRIORITY_DEFAULT 0

// In Swift, these types have their own names.
#define IN_SWIFT(TYPE) __attribute__((swift_name(#TYPE)))

// MARK: - Objects

// These structures are only used by address.
#define OPAQUE(NAME) typedef struct NAME NAME;
OPAQUE(KeyringGAsyncInitable)
OPAQUE(KeyringGAsyncResult)
OPAQUE(KeyringGBytes)
OPAQUE(KeyringGClosure)
OPAQUE(KeyringGDBusAuthObserver)
OPAQUE(KeyringGDBusConnection)
OPAQUE(KeyringGDBusMessage)
OPAQUE(KeyringGMainContext)
OPAQUE(KeyringGVariant)
OPAQUE(KeyringGVariantType)
OPAQUE(KeyringSecretValue)
#undef OPAQUE

// Of these, too, only the address is used. In Swift, their pointers have a type.
#define OBJECT(NAME, TYPE) typedef struct IN_SWIFT(TYPE) NAME { gpointer type; } NAME;
OBJECT(KeyringGCancellable, GCancellable)
OBJECT(KeyringGDBusProxy, GDBusProxy)
OBJECT(KeyringGIOStream, GIOStream)
OBJECT(KeyringGInputStream, GInputStream)
OBJECT(KeyringGObject, GObject)
OBJECT(KeyringGSource, GSource)
OBJECT(KeyringGUnixFDList, GUnixFDList)
OBJECT(KeyringSecretService, SecretService)
#undef OBJECT

typedef struct IN_SWIFT(GError) KeyringGError {
  GQuark domain;
  gint code;
  gchar *message;
} KeyringGError;

typedef struct IN_SWIFT(GValue) KeyringGValue {
  GType type;
  guint64 data[2];
} KeyringGValue;

typedef struct IN_SWIFT(GTypeQuery) KeyringGTypeQuery {
  GType type;
  const gchar *type_name;
  guint class_size;
  guint instance_size;
} KeyringGTypeQuery;

// The first members of the structure, which is only used by address.
typedef struct IN_SWIFT(GObjectClass) KeyringGObjectClass {
  GType type;
  gpointer construct_properties;
  KeyringGObject *(*constructor)(GType type, guint count, gpointer parameters);
} KeyringGObjectClass;

// MARK: - Constants

typedef enum KeyringGBusType { G_BUS_TYPE_NONE = 0, G_BUS_TYPE_SESSION = 2 } KeyringGBusType;
typedef enum IN_SWIFT(GConnectFlags) KeyringGConnectFlags { G_CONNECT_AFTER = 1 } KeyringGConnectFlags;
typedef enum IN_SWIFT(GTypeFlags) KeyringGTypeFlags { G_TYPE_FLAG_ABSTRACT = 16 } KeyringGTypeFlags;
typedef enum IN_SWIFT(GDBusConnectionFlags) KeyringGDBusConnectionFlags {
  G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT = 1,
  G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION = 8
} KeyringGDBusConnectionFlags;
typedef enum KeyringGDBusMessageFlags {
  G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED = 1,
  G_DBUS_MESSAGE_FLAGS_NO_AUTO_START = 2
} KeyringGDBusMessageFlags;
typedef enum KeyringGDBusMessageHeaderField {
  G_DBUS_MESSAGE_HEADER_FIELD_PATH = 1,
  G_DBUS_MESSAGE_HEADER_FIELD_INTERFACE = 2,
  G_DBUS_MESSAGE_HEADER_FIELD_MEMBER = 3,
  G_DBUS_MESSAGE_HEADER_FIELD_DESTINATION = 6
} KeyringGDBusMessageHeaderField;
typedef enum IN_SWIFT(GDBusMessageType) KeyringGDBusMessageType {
  G_DBUS_MESSAGE_TYPE_METHOD_CALL = 1,
  G_DBUS_MESSAGE_TYPE_SIGNAL = 4
} KeyringGDBusMessageType;
typedef enum KeyringGDBusProxyFlags {
  G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES = 1,
  G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS = 2,
  G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START = 4
} KeyringGDBusProxyFlags;
typedef enum KeyringGDBusSendMessageFlags {
  G_DBUS_SEND_MESSAGE_FLAGS_NONE = 0
} KeyringGDBusSendMessageFlags;
typedef enum KeyringGDBusSignalFlags {
  G_DBUS_SIGNAL_FLAGS_NONE = 0,
  G_DBUS_SIGNAL_FLAGS_NO_MATCH_RULE = 1
} KeyringGDBusSignalFlags;
typedef enum IN_SWIFT(GIOErrorEnum) KeyringGIOErrorEnum {
  G_IO_ERROR_FAILED = 0,
  G_IO_ERROR_NOT_FOUND = 1,
  G_IO_ERROR_NOT_DIRECTORY = 4,
  G_IO_ERROR_INVALID_ARGUMENT = 13,
  G_IO_ERROR_PERMISSION_DENIED = 14,
  G_IO_ERROR_NOT_SUPPORTED = 15,
  G_IO_ERROR_CLOSED = 18,
  G_IO_ERROR_CANCELLED = 19,
  G_IO_ERROR_TIMED_OUT = 24,
  G_IO_ERROR_HOST_NOT_FOUND = 28,
  G_IO_ERROR_CONNECTION_REFUSED = 39,
  G_IO_ERROR_BROKEN_PIPE = 44
} KeyringGIOErrorEnum;

// MARK: - Callbacks

typedef void (*KeyringGAsyncReadyCallback)(KeyringGObject *source, KeyringGAsyncResult *result, gpointer data)
    IN_SWIFT(GAsyncReadyCallback);
typedef void (*KeyringGCallback)(void) IN_SWIFT(GCallback);
typedef void (*KeyringGClassInitFunc)(gpointer type, gpointer data) IN_SWIFT(GClassInitFunc);
typedef void (*KeyringGClosureNotify)(gpointer data, KeyringGClosure *closure);
typedef void (*KeyringGDBusSignalCallback)(
    KeyringGDBusConnection *connection, const gchar *sender, const gchar *object, const gchar *interface,
    const gchar *signal, KeyringGVariant *arguments, gpointer data);
typedef void (*KeyringGDestroyNotify)(gpointer data);
typedef void (*KeyringGInstanceInitFunc)(void *instance, gpointer type);
typedef gboolean (*KeyringGSourceFunc)(gpointer data);

#endif

// MARK: - Functions

#define FUNCTION(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*keyring_##NAME) PARAMETERS;
struct KeyringFunctions {
#include "../functions.h"
};

/// The addresses of the functions. A call before `keyring_load_libsecret` loads the libraries, or aborts with the reason.
extern struct KeyringFunctions keyring_functions;

/// Loads the libraries, which stay loaded. Calls must not overlap.
///
/// - Returns: `NULL`, or the reason why a library or a function is missing. Release it with `free`.
char *keyring_load_libsecret(void);

// In Swift, the functions have their own names: g_free(_:), for example.
#define LABELS(ARGUMENTS) LABELS_OF ARGUMENTS
#define LABELS_OF(...) \
  NTH(__VA_ARGS__ __VA_OPT__(,) "_:_:_:_:_:_:_:_:_:_:_:_:_:", "_:_:_:_:_:_:_:_:_:_:_:_:", \
      "_:_:_:_:_:_:_:_:_:_:_:", "_:_:_:_:_:_:_:_:_:_:", "_:_:_:_:_:_:_:_:_:", "_:_:_:_:_:_:_:_:", \
      "_:_:_:_:_:_:_:", "_:_:_:_:_:_:", "_:_:_:_:_:", "_:_:_:_:", "_:_:_:", "_:_:", "_:", "", )
#define NTH(A, B, C, D, E, F, G, H, I, J, K, L, M, N, ...) N

#define FUNCTION(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS) \
  __attribute__((swift_name(#NAME "(" LABELS(ARGUMENTS) ")"))) \
  static inline RESULT keyring_##NAME PARAMETERS { return keyring_functions.keyring_##NAME ARGUMENTS; }
#include "../functions.h"
