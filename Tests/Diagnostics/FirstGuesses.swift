// SPDX-License-Identifier: Apache-2.0

// The compiler must refuse each of these lines with these words: .ci/check-doc-samples lets it compare them.

import Foundation
import Keyring

struct Settings {
  @Password("token") var token: String?
}

struct Declarations {
  // expected-error@+1 {{has no initial value. Write "default:"}}
  @Password("token") var first: String? = "x"
  // expected-error@+1 {{has no initial value. Write "default:"}}
  @Password("token") var second = "x"
}

// expected-error@+1 {{Declare it as String?, or add "default:"}}
struct Required { @Password("token") var token: String }

struct Number { @Password("pin") var pin: Int? }  // expected-error {{Use @SecureValue}}

struct Bytes { @Password("key") var key: Data? }  // expected-error {{Use @SecureValue}}

func use(_ settings: Settings) throws {
  _ = try settings.$token.get()  // expected-error {{'get()' has been renamed to 'read()'}}
  try settings.$token.set("x")  // expected-error {{'set' has been renamed to 'write(_:)'}}
  try settings.$token.save("x")  // expected-error {{'save' has been renamed to 'write(_:)'}}
  try settings.$token.delete()  // expected-error {{'delete()' has been renamed to 'remove()'}}
  try settings.$token.clear()  // expected-error {{'clear()' has been renamed to 'remove()'}}
  _ = settings.$token.error  // expected-error {{'error' has been renamed to 'failure'}}
  _ = settings.$token.lastError  // expected-error {{'lastError' has been renamed to 'failure'}}
}
