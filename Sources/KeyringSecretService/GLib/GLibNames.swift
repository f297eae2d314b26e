// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
internal import CKeyringLibSecret

// The names of GLib and libsecret. In C, the types have others.
typealias GAsyncReadyCallback = KeyringGAsyncReadyCallback
typealias GCallback = KeyringGCallback
typealias GCancellable = KeyringGCancellable
typealias GClassInitFunc = KeyringGClassInitFunc
typealias GConnectFlags = KeyringGConnectFlags
typealias GDBusConnectionFlags = KeyringGDBusConnectionFlags
typealias GDBusMessageType = KeyringGDBusMessageType
typealias GError = KeyringGError
typealias GIOErrorEnum = KeyringGIOErrorEnum
typealias GObject = KeyringGObject
typealias GObjectClass = KeyringGObjectClass
typealias GTypeFlags = KeyringGTypeFlags
typealias GTypeQuery = KeyringGTypeQuery
typealias GValue = KeyringGValue
typealias SecretService = KeyringSecretService
#endif
