// SPDX-License-Identifier: Apache-2.0

/// A blocking storage that may have to ask the user, for example for a passphrase.
package protocol AskingStorage: BlockingStorage {
  /// The question that the operations of the storage share.
  var question: StorageQuestion { get }
}
