// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The part of swift-configuration that the articles use, for samples that are compiled without the trait Configuration.
public protocol ConfigProvider: Sendable {}

public struct EnvironmentVariablesProvider: ConfigProvider {
  public init() {}
}

public struct ConfigReader: Sendable {
  public init(providers: [any ConfigProvider]) {}

  public func requiredString(forKey key: String, isSecret: Bool) throws -> String { key }

  public func watchString<Result>(
    forKey key: String, isSecret: Bool,
    _ body: (AsyncThrowingStream<String?, any Error>) async throws -> Result
  ) async throws -> Result { try await body(AsyncThrowingStream { $0.finish() }) }
}
