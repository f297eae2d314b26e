// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringStorage

/// A place that keeps derived keys for a while, which saves a later process the source and scrypt.
///
/// Each key has a name that is made from its salt. A change of the passphrase changes the
/// salt, too, and the old key is no longer found.
package struct KeyHolder: Sendable {
  let key: @Sendable (_ name: String) -> Secret?
  let hold: @Sendable (_ name: String, _ key: Secret) -> Void
  let forget: @Sendable (_ name: String) -> Void
}
#endif
