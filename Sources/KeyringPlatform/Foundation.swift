// SPDX-License-Identifier: Apache-2.0

// The smallest part of Foundation that the platform has, under one name.
#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
