// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// An answer of the simulated user.
///
/// SecItem.m (osstatus_for_localauthentication_error) has the statuses of data protection.
public enum PromptAnswer: Sendable {
  case allowed
  /// `errSecUserCanceled`.
  case cancelled
  /// `errSecAuthFailed`, as kc-05-find-existing-items-locked has it for a file.
  case refused
  /// Nobody can be asked, as in a daemon: `errSecInteractionNotAllowed`. For a file: reported.
  case impossible

  var status: OSStatus {
    switch self {
    case .allowed: errSecSuccess
    case .cancelled: errSecUserCanceled
    case .refused: errSecAuthFailed
    case .impossible: errSecInteractionNotAllowed
    }
  }
}
