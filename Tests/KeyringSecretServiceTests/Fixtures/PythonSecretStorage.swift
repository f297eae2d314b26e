// SPDX-License-Identifier: Apache-2.0

#if SecretService && os(Linux)
/// The Python package secretstorage, in Debian's version, which shares no code with libsecret.
struct PythonSecretStorage: OtherProgram {
  func set(_ password: String, service: String, username: String) throws {
    try ForeignProgram.inSession.get().create(
      password, ["service": service, "username": username], replacing: true)
  }

  func get(service: String, username: String) throws -> String? {
    try ForeignProgram.inSession.get().items(["service": service, "username": username]).first?.text
  }

  func remove(service: String, username: String) throws {
    try ForeignProgram.inSession.get().deleteAll(["service": service, "username": username])
  }
}
#endif
