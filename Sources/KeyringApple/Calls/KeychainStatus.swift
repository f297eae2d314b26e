// SPDX-License-Identifier: Apache-2.0

/// The results of the SecItem functions, from Apple's SecBase.h.
enum KeychainStatus {
  static let success: Int32 = 0
  static let unimplemented: Int32 = -4
  static let param: Int32 = -50
  static let wrPerm: Int32 = -61
  static let userCanceled: Int32 = -128
  static let invalidOwnerEdit: Int32 = -25244
  static let notAvailable: Int32 = -25291
  static let authFailed: Int32 = -25293
  static let noSuchKeychain: Int32 = -25294
  static let invalidKeychain: Int32 = -25295
  static let duplicateItem: Int32 = -25299
  static let itemNotFound: Int32 = -25300
  static let noSuchAttr: Int32 = -25303
  static let noSuchClass: Int32 = -25306
  static let noDefaultKeychain: Int32 = -25307
  static let interactionNotAllowed: Int32 = -25308
  static let interactionRequired: Int32 = -25315
  static let inDarkWake: Int32 = -25320
  static let decode: Int32 = -26275
  static let missingEntitlement: Int32 = -34018
  static let restrictedAPI: Int32 = -34020
  static let serviceNotAvailable: Int32 = -67585
}
