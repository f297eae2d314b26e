// SPDX-License-Identifier: Apache-2.0

#if canImport(SwiftUI)
public import SwiftUI

// A view reads a property in its body, and Observation draws it again after a change. So `update()` is SwiftUI's, which
// does nothing: a read before each body would block the main thread, and could ask the user for a secret that the
// body doesn't show. If SwiftUI's protocol belongs to the main actor, a type would follow it there from a conformance in
// the type's own file.
extension Password: DynamicProperty {}
extension Credentials: DynamicProperty {}
extension InternetPassword: DynamicProperty {}
extension SecureValue: DynamicProperty {}
#endif
