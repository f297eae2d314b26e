// SPDX-License-Identifier: Apache-2.0

/// A form of a call's result.
enum ReturnType: String, CaseIterable {
  case data = "r_Data"
  case attributes = "r_Attributes"
  case reference = "r_Ref"
  case persistentReference = "r_PersistentRef"
}
