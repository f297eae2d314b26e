// SPDX-License-Identifier: Apache-2.0

// The C library of the platform, under one name.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Darwin)
@_exported public import Darwin
#else
#error("swift-keyring needs Linux or one of Apple's platforms.")
#endif
