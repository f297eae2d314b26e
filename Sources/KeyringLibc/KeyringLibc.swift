// SPDX-License-Identifier: Apache-2.0

// The C library of the platform, under one name. There's none on Windows and in WebAssembly, where the package doesn't
// compile yet; an error here would only hide what is missing.
#if canImport(Glibc)
@_exported public import Glibc
#elseif canImport(Musl)
@_exported public import Musl
#elseif canImport(Android)
@_exported public import Android
#elseif canImport(Darwin)
@_exported public import Darwin
#endif
