// SPDX-License-Identifier: Apache-2.0

internal import KeyringStorage

extension SecureItem {
  /// The entries for the parts of the item that are to be stored, except for its key and its attributes.
  var entries: KeychainDictionary {
    var entries: KeychainDictionary = [:]
    entries[.label] = label.map { .text(KeychainText.stored($0)) }
    entries[.comment] = comment.map { .text(KeychainText.stored($0)) }
    entries[.data] = secret.map { .data($0) }
    return entries
  }
}
