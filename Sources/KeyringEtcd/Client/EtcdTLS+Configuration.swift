// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import KeyringPlatform
internal import KeyringRuntime
internal import NIOSSL

extension EtcdTLS {
  /// Reads the files.
  func configuration() throws(FileFailure) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    var path = authorities
    var problem = "can't be used for encrypted connections"
    do {
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
      if let certificate, let privateKey {
        path = certificate
        configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(path)
          .map { .certificate($0) }
        path = privateKey
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: path, format: .pem))
        problem = "isn't the key of the certificate in \(certificate)"
        _ = try NIOSSLContext(configuration: configuration)
      }
    } catch {
      // NIOSSL doesn't report the system's error for each of the files.
      let number = access(path, R_OK) == 0 ? EINVAL : errno
      throw FileFailure("\(path) \(problem)", number: number)
    }
    return configuration
  }
}
#endif
