// SPDX-License-Identifier: Apache-2.0

#if Sealing
internal import KeyringStorage

/// A place that keeps derived keys for a while, so that a later process needs neither the source nor scrypt.
///
/// Each key has a name that is made from its salt. If another process changes the passphrase, the salt
/// changes too, and the key that is held isn't found any more.
package struct KeyHolder: Sendable {
  let key: @Sendable (_ name: String) -> Secret?
  let hold: @Sendable (_ name: String, _ key: Secret) -> Void
  let forget: @Sendable (_ name: String) -> Void
}
#endif
