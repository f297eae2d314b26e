// SPDX-License-Identifier: Apache-2.0

#if Etcd && os(Linux)
import TestPrograms
import Testing

@testable import KeyringEtcd

/// The findings about certificates that no node of a test has.
struct CertificateFaultTests {
  /// Certificates, by the years in which they begin and end.
  private enum Certificate {
    static let from2030To2020 = """
      -----BEGIN CERTIFICATE-----
      MIH/MIGmAgEBMAoGCCqGSM49BAMCMAwxCjAIBgNVBAMMAXgwHhcNMzAwMTAxMDAw
      MDAwWhcNMjAwMTAxMDAwMDAwWjAMMQowCAYDVQQDDAF4MFkwEwYHKoZIzj0CAQYI
      KoZIzj0DAQcDQgAEQYyQTsCuyA0bZ5qUPB1pqdXVIRokf+vak7MwxwA8y/gorIX+
      SXpIZOftKG4ywrYJ+kio8pdO266tLLV/GJY1BjAKBggqhkjOPQQDAgNIADBFAiEA
      rgWdZaHPODGhlmpTKole3n9DsVwhyelTucgU/B1l52kCIGFCwKey3+N7VSaFQ2nZ
      zbrMbvthb8OwyRww9gIbNi0A
      -----END CERTIFICATE-----

      """
    static let from2020To2120 = """
      -----BEGIN CERTIFICATE-----
      MIIBAjCBqgIBAjAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAF4MCAXDTIwMDEwMTAw
      MDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAOMQwwCgYDVQQDDANub3cwWTATBgcqhkjO
      PQIBBggqhkjOPQMBBwNCAARBjJBOwK7IDRtnmpQ8HWmp1dUhGiR/69qTszDHADzL
      +Cishf5Jekhk5+0objLCtgn6SKjyl07brq0stX8YljUGMAoGCCqGSM49BAMCA0cA
      MEQCICGPFQpstcQthFaVvPKeZ+KJhOo1RNTuHnD0C+H47gJdAiBliAYDThZDF6sq
      gnRVVtT0jzMcnKD28o1d9OFmHpeSdA==
      -----END CERTIFICATE-----

      """
    static let from2110To2130 = """
      -----BEGIN CERTIFICATE-----
      MIIBBTCBrQIBAzAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAF4MCIYDzIxMTAwMTAx
      MDAwMDAwWhgPMjEzMDAxMDEwMDAwMDBaMA8xDTALBgNVBAMMBG5leHQwWTATBgcq
      hkjOPQIBBggqhkjOPQMBBwNCAARBjJBOwK7IDRtnmpQ8HWmp1dUhGiR/69qTszDH
      ADzL+Cishf5Jekhk5+0objLCtgn6SKjyl07brq0stX8YljUGMAoGCCqGSM49BAMC
      A0cAMEQCIApyRpJCJrbFpCuXqLTB6rw20xDn09ssS0r2DyatgDOlAiAa6biSgIb4
      M/RtFaZQt/a63K8aHWCO/zgt87rJCSNriQ==
      -----END CERTIFICATE-----

      """
  }

  private func withFile<Result>(
    _ certificates: String..., body: (EtcdTLS) throws -> Result
  ) throws -> Result {
    let directory = TemporaryDirectory()
    try directory.write(certificates.joined(), "certificates")
    let path = directory.path("certificates")
    return try body(EtcdTLS(authorities: path, certificate: path, privateKey: path))
  }

  @Test func `a certificate that ends before it begins has expired`() throws {
    let fault = try withFile(Certificate.from2030To2020) { CertificateFault.ofProgram($0) }
    #expect(fault?.text.contains("expired on 2020-01-01") == true)
  }

  @Test func `the next authority isn't at fault while another one is valid`() throws {
    let endpoint = try #require(EtcdEndpoint("https://127.0.0.1:1"))
    let fault = try withFile(Certificate.from2020To2120, Certificate.from2110To2130) {
      CertificateFault.ofNode(endpoint, "CERTIFICATE_VERIFY_FAILED", $0)
    }
    #expect(fault?.text.hasPrefix("Its certificate isn't valid now") == true)
  }
}
#endif
