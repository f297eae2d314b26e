// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Programs that get their secrets as the article on the tool shows.
@Suite(.inPrivateSession) struct OtherProgramsTests {
  private let service = "keyring-tool-\(UUID().uuidString.lowercased())"
  private let directory = TemporaryDirectory()

  /// Runs a command of the article in a directory of its own, with the tool on the path.
  private func shell(_ command: String) throws -> String {
    let tools = URL(fileURLWithPath: Program.toolPath).deletingLastPathComponent().path
    let result = try Program.run(
      "env",
      [
        "-C", directory.path, "service=\(service)", "tools=\(tools)", "bash", "-c",
        """
        set -euo pipefail
        export HOME=$PWD PATH=$tools:$PATH
        \(command)
        """,
      ])
    #expect(result.status == 0, "\(result)")
    return result.output
  }

  @Test(.needs("age")) func `age and SOPS get a key`() throws {
    let output = try shell(
      """
      age-keygen 2>/dev/null | keyring-tool set sops $service
      recipient=$(keyring-tool get sops $service | age-keygen -y)
      echo s3cret | age --recipient "$recipient" >file.age
      export SOPS_AGE_KEY_CMD="keyring-tool get sops $service"
      age --decrypt --identity <($SOPS_AGE_KEY_CMD) file.age
      """)
    #expect(output == "s3cret\n")
  }

  @Test(.needs("ssh-agent")) func `ssh gets the passphrase of a key`() throws {
    let output = try shell(
      """
      echo "pass phrase" | keyring-tool set ssh "$PWD/id"
      ssh-keygen -q -t ed25519 -N "pass phrase" -f id
      printf '#!/bin/sh\\nexec keyring-tool get ssh "%s"\\n' "$PWD/id" >ssh-askpass-keyring
      chmod +x ssh-askpass-keyring
      export PATH=$PWD:$PATH SSH_ASKPASS=ssh-askpass-keyring SSH_ASKPASS_REQUIRE=force
      ssh-agent sh -c 'ssh-add -q id && ssh-add -l' </dev/null
      """)
    #expect(output.contains("(ED25519)"))
  }

  @Test(.needs("curl"), .needs("python3")) func `curl gets a password and a token`() throws {
    let server = """
      import base64, http.server
      class Handler(http.server.BaseHTTPRequestHandler):
          def do_GET(self):
              words = self.headers.get("Authorization", "none none").split(" ", 1)
              text = words[1].encode() if words[0] == "Bearer" else base64.b64decode(words[1])
              self.send_response(200)
              self.end_headers()
              self.wfile.write(words[0].encode() + b" " + text + b"\\n")
          def log_message(self, *words):
              pass
      server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
      print(server.server_port, flush=True)
      server.serve_forever()
      """
    let program = try Program("python3", ["-c", server])
    let port = try program.waitFor("\n")
    let output = try shell(
      """
      echo pa55 | keyring-tool set --server localhost --port \(port) --protocol http --account $service
      echo t0ken | keyring-tool set $service token
      url=http://localhost:\(port)/
      keyring-tool run --netrc "$url=$service" -- sh -c 'curl -s --netrc-file "$NETRC" "$1"' sh "$url"
      keyring-tool get $service token | sed "s/^/Authorization: Bearer /" | curl -s --header @- "$url"
      """)
    #expect(output == "Basic \(service):pa55\nBearer t0ken\n")
  }
}
