// SPDX-License-Identifier: Apache-2.0

import CoreFoundation
import Security

/// The two classes of passwords.
public enum ItemClass: String, Sendable {
  case genericPassword = "genp"
  case internetPassword = "inet"

  /// Apple's other classes: they exist, and the model doesn't have them.
  private static let others = ["cert", "keys", "idnt", "apls"]

  /// Reads a class.
  ///
  /// SecDbQuery.c (query_get_class): an unknown one is `errSecNoSuchClass`.
  static func named(_ name: String?, unknown: OSStatus) throws -> ItemClass {
    if let found = name.flatMap(ItemClass.init) { return found }
    throw Refusal(name.map(others.contains) == true ? errSecUnimplemented : unknown)
  }

  /// The attributes that make a key.
  ///
  /// Schema.m4 (flag U), SecItemSchema.c (flag P): data protection adds the access group and
  /// whether an item is shared between devices.
  var keyAttributes: [String] {
    switch self {
    case .genericPassword: ["acct", "svce"]
    case .internetPassword: ["acct", "sdmn", "srvr", "ptcl", "atyp", "port", "path"]
    }
  }

  /// The value that a missing part of a key is stored as.
  ///
  /// SecItemSchema.c (flags E and Z), Item.cpp (defaultAttributeValue).
  func emptyValue(of key: String) -> Value {
    ["port", "ptcl"].contains(key) ? .number(0) : .text([])
  }

  /// The attributes of data protection, or nil.
  ///
  /// SecItemSchema.c.
  func dataProtectionKind(of key: String) -> AttributeKind? {
    switch (self, key) {
    case (_, "labl"), (_, "alis"), (_, "desc"), (_, "icmt"), (_, "acct"), (_, "prot"), (_, "musr"),
      (.genericPassword, "svce"), (.genericPassword, "gena"),
      (.internetPassword, "sdmn"), (.internetPassword, "srvr"), (.internetPassword, "atyp"),
      (.internetPassword, "path"):
      .blob
    case (_, "agrp"), (_, "pdmn"), (_, "vwht"), (_, "tkid"): .text
    case (_, "cdat"), (_, "mdat"): .date
    case (_, "crtr"), (_, "type"), (_, "invi"), (_, "nega"), (_, "cusi"), (_, "scrp"), (_, "sync"),
      (_, "tomb"), (.internetPassword, "ptcl"), (.internetPassword, "port"):
      .number
    default: nil
    }
  }

  /// The attributes of the file-based keychain, or nil: another one is ignored.
  ///
  /// SecItem.cpp (gGenericPasswordAttributes and the internet password's list, which has no generic
  /// attribute).
  func fileKind(of key: String) -> AttributeKind? {
    switch (self, key) {
    case (_, "acct"), (_, "desc"), (_, "icmt"), (_, "labl"), (.genericPassword, "svce"),
      (.internetPassword, "srvr"), (.internetPassword, "sdmn"), (.internetPassword, "path"):
      .blob
    case (.genericPassword, "gena"): .data
    case (_, "crtr"), (_, "type"), (.internetPassword, "port"): .number
    case (_, "invi"), (_, "nega"): .boolean
    case (.genericPassword, "cdat"), (.genericPassword, "mdat"): .date
    case (.internetPassword, "ptcl"): .code(Self.protocols)
    case (.internetPassword, "atyp"): .code(Self.authenticationTypes)
    default: nil
    }
  }

  private static let protocols: Set = [
    "ftp ", "ftpa", "http", "irc ", "nntp", "pop3", "smtp", "sox ", "imap", "ldap", "atlk", "afp ",
    "teln", "ssh ", "ftps", "htps", "htpx", "htsx", "ftpx", "smb ", "rtsp", "rtsx", "daap", "eppc",
    "ipp ", "ntps", "ldps", "tels", "imps", "ircs", "pops",
  ]

  private static let authenticationTypes: Set = [
    "ntlm", "msna", "dpaa", "rpaa", "http", "httd", "form", "dflt",
  ]
}
