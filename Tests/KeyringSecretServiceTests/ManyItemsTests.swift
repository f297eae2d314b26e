#if SecretService && os(Linux)
import Keyring
import Testing

@Suite(.inPrivateSession) struct ManyItemsTests {
  @Test func moreItemsThanTravelSideBySide() throws {
    let storage = SecretServiceStorage(collection: .session)
    let service = PrivateSession.newService()
    for number in 0..<150 {
      try storage.setPassword("s3cret \(number)", service: service, account: "\(number)")
    }
    let items = try storage.items(matching: .service(service, details: .all))
    #expect(items.count == 150)
    #expect(
      items.allSatisfy { $0.secret?.text == "s3cret \($0.key.attributes["username"] ?? "")" })
    #expect(try storage.removeItems(matching: .service(service)) == 150)
    #expect(try storage.items(matching: .service(service)).isEmpty)
  }
}
#endif
