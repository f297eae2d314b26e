// SPDX-License-Identifier: Apache-2.0

package import AppleKeychainModel
internal import CoreFoundation
package import KeyringApple

/// The calls of a program on a simulated device, from any thread.
package struct StandInKeychain: KeychainCalls {
  package let device: KeychainModel
  package let program: Caller

  /// A context that isn't asked to be silent stands for itself, by the reason that it gives.
  private let system = SystemKeychain { prompt, mayAsk in
    CFString.make(mayAsk ? prompt ?? "no reason" : KeychainModel.nonInteractiveContext)
  }

  package init(_ device: KeychainModel, _ program: Caller = Caller()) {
    (self.device, self.program) = (device, program)
  }

  package func add(_ attributes: KeychainDictionary) -> KeychainResult {
    onDevice { system.add(attributes) }
  }

  package func copyMatching(_ query: KeychainDictionary) -> KeychainResult {
    onDevice { system.copyMatching(query) }
  }

  package func update(_ query: KeychainDictionary, _ changes: KeychainDictionary) -> Int32 {
    onDevice { system.update(query, changes) }
  }

  package func delete(_ query: KeychainDictionary) -> Int32 { onDevice { system.delete(query) } }

  package func status() -> Int32 { onDevice { system.status() } }

  package func message(for status: Int32) -> String? { system.message(for: status) }

  private func onDevice<Result>(_ call: () -> Result) -> Result {
    KeychainModel.$current.withValue(device) {
      KeychainModel.$caller.withValue(program) { call() }
    }
  }
}

extension CFString {
  fileprivate static func make(_ text: String) -> CFString {
    let units = Array(text.utf16)
    return CFStringCreateWithCharacters(nil, units, units.count)
  }
}
