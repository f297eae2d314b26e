// SPDX-License-Identifier: Apache-2.0

// All files of the tool call the C library.
#if canImport(Musl)
@_exported public import Musl
#else
@_exported public import Glibc
#endif
