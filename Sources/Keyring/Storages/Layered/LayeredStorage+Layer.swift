// SPDX-License-Identifier: Apache-2.0

public import KeyringStorage

extension LayeredStorage {
  /// A storage as a layer of a ``LayeredStorage``.
  ///
  /// ```swift
  /// let layers: [LayeredStorage.Layer] = [.reading(fleet, isRequired: false), .writing(file)]
  /// ```
  public struct Layer: Sendable {
    let storage: any SecureStorage
    let isWriting: Bool
    /// `true` if a storage that is out of reach fails a read.
    let isRequired: Bool

    /// Returns a layer that is only read.
    ///
    /// ```swift
    /// let storage = LayeredStorage([.reading(fleet), .writing(file)])
    /// ```
    ///
    /// - Parameters:
    ///   - storage: The storage.
    ///   - isRequired: With `true`, a read fails as long as the storage is out of reach. With `false`, it goes on with
    ///     the next layer, which may have an older or another value.
    /// - Returns: The layer.
    public static func reading(
      _ storage: any SecureStorage, isRequired: Bool = true
    ) -> Layer {
      Layer(storage: storage, isWriting: false, isRequired: isRequired)
    }

    /// Returns the layer that is read and written.
    ///
    /// ```swift
    /// let storage = LayeredStorage([.reading(CredentialsDirectoryStorage(service: "app")), .writing(file)])
    /// ```
    ///
    /// - Parameters:
    ///   - storage: The storage.
    ///   - isRequired: With `true`, a read fails as long as the storage is out of reach. With `false`, it goes on with
    ///     the next layer, which may have an older or another value.
    /// - Returns: The layer.
    public static func writing(
      _ storage: any SecureStorage, isRequired: Bool = true
    ) -> Layer {
      Layer(storage: storage, isWriting: true, isRequired: isRequired)
    }
  }
}

extension LayeredStorage.Layer {
  /// The codes of the errors that say that a storage can't be reached.
  private static let unreachable: Set<SecureStorageError.Code> = [
    .noSessionBus, .noProvider, .providerFailed, .connectionLost, .timedOut,
  ]

  /// Whether the storage can change while the program runs, or reports changes anyway.
  var isObserved: Bool { !(storage is any ReadOnlyStorage) || storage is any ObservableStorage }

  /// Returns the storage's answer to a read.
  ///
  /// - Parameters:
  ///   - nothing: The answer of a storage that has no items, which is also the answer of a layer to skip.
  ///   - read: The read.
  /// - Returns: The answer.
  /// - Throws: The error of the storage, unless the layer is skipped.
  func answer<Answer>(
    _ nothing: Answer, _ read: (any SecureStorage) async throws(SecureStorageError) -> Answer
  ) async throws(SecureStorageError) -> Answer {
    do throws(SecureStorageError) {
      return try await read(storage)
    } catch {
      if isSkipped(after: error.code) { return nothing }
      throw error
    }
  }

  private func isSkipped(after code: SecureStorageError.Code) -> Bool {
    code == .noStorage || !isRequired && Self.unreachable.contains(code)
  }

  /// A copy of the layer that is required.
  var required: Self { Self(storage: storage, isWriting: isWriting, isRequired: true) }
}
