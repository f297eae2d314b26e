// SPDX-License-Identifier: Apache-2.0

/// A ``SecureProperty`` with a value of any type.
///
/// Don't conform other types to this protocol.
public protocol AnySecureProperty: Sendable {}

extension SecureProperty: AnySecureProperty {}
