// SPDX-License-Identifier: Apache-2.0

import Contending
import Keyring

/// The settings of an app that has 20 secrets.
struct Settings {
  @Password("account-0") var password0: String?
  @Password("account-1") var password1: String?
  @Password("account-2") var password2: String?
  @Password("account-3") var password3: String?
  @Password("account-4") var password4: String?
  @Password("account-5") var password5: String?
  @Password("account-6") var password6: String?
  @Password("account-7") var password7: String?
  @Password("account-8") var password8: String?
  @Password("account-9") var password9: String?
  @Password("account-10") var password10: String?
  @Password("account-11") var password11: String?
  @Password("account-12") var password12: String?
  @Password("account-13") var password13: String?
  @Password("account-14") var password14: String?
  @Password("account-15") var password15: String?
  @Password("account-16") var password16: String?
  @Password("account-17") var password17: String?
  @Password("account-18") var password18: String?
  @Password("account-19") var password19: String?

  var properties: [StoredValue<String>] {
    [
      $password0, $password1, $password2, $password3, $password4,
      $password5, $password6, $password7, $password8, $password9,
      $password10, $password11, $password12, $password13, $password14,
      $password15, $password16, $password17, $password18, $password19,
    ]
  }
}

/// Reads all properties of the settings at once.
struct SettingsRead: Work {
  private let settings = Settings()
  private var found: [String?] = []

  mutating func perform() throws {
    let values = try SecureProperties(of: settings).readAll()
    found = try settings.properties.map { try values[$0] }
  }

  func check() throws { try Sample.check(found, count: 20) }
}
