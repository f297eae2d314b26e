// SPDX-License-Identifier: Apache-2.0

#if Etcd
/// An error that etcd answers.
struct GatewayError: Decodable, Error, Sendable {
  /// The status code of gRPC, as in https://grpc.io/docs/guides/status-codes/.
  let code: Int
  var message: String

  init(code: Int, message: String) { (self.code, self.message) = (code, message) }

  private enum CodingKeys: CodingKey { case code, message, error }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    code = Int(clamping: try container.decode(GatewayInteger.self, forKey: .code).value)
    // A proxy may have an object in its place.
    let text = try? container.decode(String.self, forKey: .error)
    message = try container.decodeIfPresent(String.self, forKey: .message) ?? text ?? ""
  }
}

extension GatewayError {
  /// `true` for an error that may pass soon.
  ///
  /// The request may have been processed, or may be later.
  var isTransient: Bool {
    // A request is refused for its token before it's processed.
    if isAboutToken { return false }
    return [1, 2, 4, 13, 14].contains(code) || code == 8 && message.contains("too many requests")
  }

  /// The refusal of a request that has more bytes than the node accepts.
  static let tooLarge = GatewayError(code: 3, message: "etcdserver: request is too large")

  var isDatabaseFull: Bool { code == 8 && message.contains("database space exceeded") }

  /// `true` for the refusal of a request with more bytes than the node accepts.
  var isTooLarge: Bool {
    message.contains("request is too large") || message.contains("larger than max")
  }

  /// `true` for the refusal of a request beyond the rights of the user, or of a program that names none.
  var isDenial: Bool {
    code == 7 || code == 3 && message.contains("user name is empty")
      || code == 9 && message.contains("not found")
  }

  /// `true` for an error that a new token mends.
  ///
  /// etcd 3.5.1 answers a signed token (JWT) that is older than the roles with the code of an unknown error.
  var isAboutToken: Bool {
    code == 16 || code == 3 && message.contains("revision of auth store is old")
      || code == 2 && message.contains("auth: revision in header is old")
  }
}
#endif
