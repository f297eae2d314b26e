// SPDX-License-Identifier: Apache-2.0

// libsecret and GLib, which are loaded when a program first uses the keyring. A program that is linked with
// them wouldn't start on a machine without them, and couldn't fall back to another storage.
//
// The declarations are this package's own, so nobody needs the headers to build it. The ABI of these functions
// is stable. All C names begin with "keyring" or "Keyring", because an app may use GLib's headers beside these.

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

// MARK: - Objects

// These structures are only used by address.
#define OPAQUE(NAME) typedef struct Keyring##NAME NAME;
OPAQUE(GAsyncInitable)
OPAQUE(GAsyncResult)
OPAQUE(GBytes)
OPAQUE(GClosure)
OPAQUE(GDBusAuthObserver)
OPAQUE(GDBusConnection)
OPAQUE(GDBusMessage)
OPAQUE(GMainContext)
OPAQUE(GVariant)
OPAQUE(GVariantBuilder)
OPAQUE(GVariantType)
OPAQUE(SecretValue)
#undef OPAQUE

// Of these, too, only the address is used. In Swift, their pointers have a type.
#define OBJECT(NAME) typedef struct Keyring##NAME { gpointer type; } NAME;
OBJECT(GCancellable)
OBJECT(GDBusProxy)
OBJECT(GIOStream)
OBJECT(GInputStream)
OBJECT(GObject)
OBJECT(GSource)
OBJECT(GUnixFDList)
OBJECT(SecretService)
#undef OBJECT

typedef struct KeyringGError {
  GQuark domain;
  gint code;
  gchar *message;
} GError;

typedef struct KeyringGValue {
  GType type;
  guint64 data[2];
} GValue;

typedef struct KeyringGTypeQuery {
  GType type;
  const gchar *type_name;
  guint class_size;
  guint instance_size;
} GTypeQuery;

// The first members of the structure, which is only used by address.
typedef struct KeyringGObjectClass {
  GType type;
  gpointer construct_properties;
  GObject *(*constructor)(GType type, guint count, gpointer parameters);
} GObjectClass;

// MARK: - Constants

typedef enum KeyringGBusType { G_BUS_TYPE_NONE = 0, G_BUS_TYPE_SESSION = 2 } GBusType;
typedef enum KeyringGConnectFlags { G_CONNECT_AFTER = 1 } GConnectFlags;
typedef enum KeyringGTypeFlags { G_TYPE_FLAG_ABSTRACT = 16 } GTypeFlags;
typedef enum KeyringGDBusCallFlags { G_DBUS_CALL_FLAGS_NO_AUTO_START = 1 } GDBusCallFlags;
typedef enum KeyringGDBusConnectionFlags {
  G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT = 1,
  G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION = 8
} GDBusConnectionFlags;
typedef enum KeyringGDBusMessageFlags { G_DBUS_MESSAGE_FLAGS_NO_AUTO_START = 2 } GDBusMessageFlags;
typedef enum KeyringGDBusMessageType { G_DBUS_MESSAGE_TYPE_METHOD_RETURN = 2 } GDBusMessageType;
typedef enum KeyringGDBusProxyFlags {
  G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES = 1,
  G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS = 2,
  G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START = 4
} GDBusProxyFlags;
typedef enum KeyringGDBusSendMessageFlags {
  G_DBUS_SEND_MESSAGE_FLAGS_NONE = 0
} GDBusSendMessageFlags;
typedef enum KeyringGDBusSignalFlags { G_DBUS_SIGNAL_FLAGS_NONE = 0 } GDBusSignalFlags;
typedef enum KeyringGIOErrorEnum {
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
} GIOErrorEnum;
typedef enum KeyringSecretServiceFlags { SECRET_SERVICE_OPEN_SESSION = 2 } SecretServiceFlags;

// MARK: - Callbacks

typedef void (*GAsyncReadyCallback)(GObject *source, GAsyncResult *result, gpointer data);
typedef void (*GCallback)(void);
typedef void (*GClassInitFunc)(gpointer type, gpointer data);
typedef void (*GClosureNotify)(gpointer data, GClosure *closure);
typedef void (*GDBusSignalCallback)(
    GDBusConnection *connection, const gchar *sender, const gchar *object, const gchar *interface,
    const gchar *signal, GVariant *arguments, gpointer data);
typedef void (*GDestroyNotify)(gpointer data);
typedef void (*GInstanceInitFunc)(void *instance, gpointer type);
typedef gboolean (*GSourceFunc)(gpointer data);

#endif

// MARK: - Functions

#define FUNCTION(LIBRARY, RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(*keyring_##NAME) PARAMETERS;
struct KeyringFunctions {
#include "../functions.h"
};

/// The addresses of the functions. Don't call any before `keyring_load_libsecret` has succeeded.
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
