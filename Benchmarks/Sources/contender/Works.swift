// SPDX-License-Identifier: Apache-2.0

import Contending

/// Returns the work with a name of the driver's catalog.
func work(named name: String, _ arguments: ArraySlice<String>) throws -> any Work {
  let count = arguments.first.flatMap(Int.init) ?? 1
  switch name {
  case "read-property": return PropertyRead()
  case "read-storage": return StorageRead(storage: Sample.storage(inCollection: arguments.first))
  case "write-property": return PropertyWrite(isNew: false)
  case "write-storage": return StorageWrite()
  case "write-in-turn": return StorageWrite(count: count)
  case "create-property": return PropertyWrite(isNew: true)
  case "create-storage": return StorageWrite(isNew: true)
  case "absent-property": return PropertyRead(isAbsent: true)
  case "absent-storage": return StorageRead(isAbsent: true)
  case "remove-property": return PropertyRemoval()
  case "remove-storage": return StorageRemoval()
  case "create-properties": return try PropertiesInTurn(.create, count: count)
  case "create-items": return try ItemsInTurn(.create, count: count)
  case "remove-properties": return try PropertiesInTurn(.remove, count: count)
  case "remove-items": return try ItemsInTurn(.remove, count: count)
  case "query": return Query(count: count)
  case "query-keys": return QueryOfLess(count: count, wish: .keys)
  case "query-newest": return QueryOfLess(count: count, wish: .newest)
  case "keys": return ReadsByKeys(count: count)
  case "reads": return SingleReads(count: count)
  case "awaits-at-once": return AwaitedReads(count: count, order: .atOnce)
  case "awaits-equal": return AwaitedReads(count: count, order: .atOnceEqual)
  case "awaits-in-turn": return AwaitedReads(count: count, order: .inTurn)
  case "settings": return SettingsRead()
  case "key-coding": return KeyCoding()
  case "credential-coding": return try CredentialCoding()
  case "properties": return PropertyByProperty()
  case "memory-read": return try PropertyInMemoryRead()
  case "memory-write": return PropertyInMemoryWrite()
  case "dictionary-read": return DictionaryRead()
  case "dictionary-write": return DictionaryWrite()
  case "cached-read": return try CachedRead()
  #if EncryptedFile
  case "file-open": return FileOpening(file: try SampleFile(arguments))
  case "file-read": return FileRead(file: try SampleFile(arguments))
  case "file-write": return FileWrite(file: try SampleFile(arguments))
  #endif
  case "bare-file-read": return BareFileRead(path: arguments.first ?? "")
  case "bare-file-write": return try BareFileWrite(path: arguments.first ?? "")
  case "threads": return ThreadsReading(threads: count)
  default: throw Failure("there is no work \"\(name)\"")
  }
}
