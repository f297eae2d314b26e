// SPDX-License-Identifier: Apache-2.0

extension Result {
  /// Creates a result from the value that asynchronous code returns or the error that it throws.
  package init(_ body: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
