// SPDX-License-Identifier: Apache-2.0

#if Etcd
internal import NIOSSL

extension EtcdTLS {
  /// A file that can't be read, or that has another format.
  struct UnusableFile: Error {
    let path: String
  }

  /// Reads the files.
  func configuration() throws(UnusableFile) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    var path = authorities
    do {
      configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(path))
      if let certificate, let privateKey {
        path = certificate
        configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(path)
          .map { .certificate($0) }
        path = privateKey
        configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: path, format: .pem))
      }
    } catch {
      throw UnusableFile(path: path)
    }
    return configuration
  }
}
#endif
