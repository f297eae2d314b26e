// SPDX-License-Identifier: Apache-2.0

package import KeyringStorage

extension SecureStorageError.Code {
  /// All codes of the library.
  package static let known: [Self] = [
    .itemNotFound, .itemAlreadyExists, .locked, .userCanceled, .noSessionBus, .noProvider,
    .providerFailed, .noDefaultCollection, .collectionNotFound, .collectionAlreadyExists,
    .accessDenied, .notEncrypted, .timedOut, .canceled, .connectionLost, .ambiguous,
    .invalidArgument, .undecodable, .wrongKey, .keyNotFound, .damaged, .verificationFailed,
    .sourceChanged, .readOnly, .noStorage, .selectedStorageMissing, .turnLost, .notObservable,
    .mainLoopBlocked, .other,
  ]
}
