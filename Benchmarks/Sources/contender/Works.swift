// SPDX-License-Identifier: Apache-2.0

import Contending

/// Returns the work with a name of the driver's catalog.
func work(named name: String, _ arguments: ArraySlice<String>) throws -> any Work {
  let count = arguments.first.flatMap(Int.init) ?? 1
  return switch name {
  case "read-property": PropertyRead()
  case "read-storage": StorageRead(storage: Sample.storage(inCollection: arguments.first))
  case "write-property": PropertyWrite(isNew: false)
  case "write-storage": StorageWrite()
  case "write-in-turn": StorageWrite(count: count)
  case "create-property": PropertyWrite(isNew: true)
  case "create-storage": StorageWrite(isNew: true)
  case "absent-property": PropertyRead(isAbsent: true)
  case "absent-storage": StorageRead(isAbsent: true)
  case "remove-property": PropertyRemoval()
  case "remove-storage": StorageRemoval()
  case "create-properties": try PropertiesInTurn(.create, count: count)
  case "create-items": try ItemsInTurn(.create, count: count)
  case "remove-properties": try PropertiesInTurn(.remove, count: count)
  case "remove-items": try ItemsInTurn(.remove, count: count)
  case "query": Query(count: count)
  case "query-keys": QueryOfLess(count: count, wish: .keys)
  case "query-newest": QueryOfLess(count: count, wish: .newest)
  case "keys": ReadsByKeys(count: count)
  case "reads": SingleReads(count: count)
  case "awaits-at-once": AwaitedReads(count: count, order: .atOnce)
  case "awaits-equal": AwaitedReads(count: count, order: .atOnceEqual)
  case "awaits-in-turn": AwaitedReads(count: count, order: .inTurn)
  case "settings": SettingsRead()
  case "key-coding": KeyCoding()
  case "credential-coding": try CredentialCoding()
  case "properties": PropertyByProperty()
  case "memory-read": try PropertyInMemoryRead()
  case "memory-write": PropertyInMemoryWrite()
  case "dictionary-read": DictionaryRead()
  case "dictionary-write": DictionaryWrite()
  case "cached-read": try CachedRead()
  case "file-open": FileOpening(file: try SampleFile(arguments))
  case "file-read": FileRead(file: try SampleFile(arguments))
  case "file-write": FileWrite(file: try SampleFile(arguments))
  case "bare-file-read": BareFileRead(path: arguments.first ?? "")
  case "bare-file-write": try BareFileWrite(path: arguments.first ?? "")
  case "threads": ThreadsReading(threads: count)
  default: throw Failure("there is no work \"\(name)\"")
  }
}
