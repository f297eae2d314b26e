// SPDX-License-Identifier: Apache-2.0

#if Sealing
/// The error for decrypted bytes that aren't a valid record.
package struct MalformedRecord: Error {
  package init() {}
}
#endif
