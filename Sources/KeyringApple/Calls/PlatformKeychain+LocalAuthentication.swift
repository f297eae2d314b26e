// SPDX-License-Identifier: Apache-2.0

// The one file that needs LocalAuthentication. It's only compiled on Apple's platforms.
#if canImport(Darwin) && !os(tvOS)
internal import LocalAuthentication

extension PlatformKeychain {
  /// Returns what a question to the user says, and whether the user may be asked.
  @Sendable static func context(prompt: String?, mayAsk: Bool) -> AnyObject? {
    let context = LAContext()
    #if !os(watchOS)
    if let prompt { context.localizedReason = prompt }
    #endif
    context.interactionNotAllowed = !mayAsk
    return context
  }
}
#elseif canImport(Darwin)
extension PlatformKeychain {
  /// Returns nothing, because a context can't be told what to say or to be silent here.
  @Sendable static func context(prompt: String?, mayAsk: Bool) -> AnyObject? { nil }
}
#endif
