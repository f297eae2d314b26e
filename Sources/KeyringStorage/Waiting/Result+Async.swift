extension Result {
  /// Takes over what asynchronous code returns or throws.
  package init(_ body: () async throws(Failure) -> Success) async {
    do throws(Failure) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
