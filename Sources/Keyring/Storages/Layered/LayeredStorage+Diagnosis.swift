// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension LayeredStorage {
  /// Finds out whether each of the layers works here, and what protects the written one.
  public func diagnoseWithoutBlocking(
    writing: Bool
  ) async throws(SecureStorageError) -> StorageDiagnosis {
    var diagnosis = StorageDiagnosis(of: backendName)
    var examined: [StorageDiagnosis] = []
    for layer in layers {
      examined.append(try await layer.storage.diagnose(writing: writing && layer.isWriting))
    }
    for layer in examined { diagnosis.add(layer) }
    diagnosis.failure = failure(of: examined)
    if let writingIndex { diagnosis.protection = examined[writingIndex].protection }
    let order = layers.map { layer in
      layer.storage.backendName + (layer.isWriting ? " (written)" : "")
    }
    diagnosis.add("layers", order.joined(separator: ", then "))
    return diagnosis
  }

  /// Returns the error that saving would throw, with a code that tells whether there can be items.
  private func failure(of examined: [StorageDiagnosis]) -> SecureStorageError? {
    let hindrances = zip(layers, examined).compactMap { layer, diagnosis in
      // Nothing is stored in a layer that is only read, and a layer without a storage has no items.
      let mayFail = !layer.isWriting && [.readOnly, .noStorage].contains(diagnosis.failure?.code)
      return mayFail ? nil : diagnosis.failure
    }
    guard examined.contains(where: { !$0.canBeSkipped }) else {
      return hindrances.first ?? examined.first?.failure ?? error(.noStorage, during: .save)
    }
    guard let hindrance = hindrances.first else {
      return writingIndex == nil ? error(.readOnly, during: .save) : nil
    }
    // The other layers can have items, so a FirstAvailableStorage must not skip this storage.
    if Set.skipReasons.contains(hindrance.code) {
      return error(
        .readOnly, during: .save, message: hindrance.message,
        recoverySuggestion: hindrance.recoverySuggestion, underlying: hindrance.underlying)
    }
    return hindrance
  }
}
