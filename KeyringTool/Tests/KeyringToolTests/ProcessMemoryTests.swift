// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of what other programs of the user see of the tool.
@Suite(.needs("python3"))
struct ProcessMemoryTests {
  @Test func `no program of the user can read the memory, and there are no core dumps`() throws {
    // Root can read everything. A pipe takes so much only after the tool has begun to read the secret.
    let script = """
      import os, subprocess, sys
      # Another user may have no access to its directory.
      file = os.open(sys.argv[1], os.O_RDONLY)
      if os.getuid() == 0:
          os.setgroups([])
          os.setgid(2)
          os.setuid(2)
      arguments = ["/proc/self/fd/%d" % file] + sys.argv[2:]
      tool = subprocess.Popen(arguments, stdin=subprocess.PIPE, pass_fds=[file])
      tool.stdin.write(bytes(1 << 20))
      directory = "/proc/%d/" % tool.pid
      limits = open(directory + "limits").read().split("\\n")
      print("readable" if os.stat(directory + "mem").st_uid == os.getuid() else "hidden")
      print([line.split()[4] for line in limits if line.startswith("Max core file size")])
      tool.kill()
      """
    let set = ["set", "a", "b", "--storage", "file:/nonexistent/x", "--key-file", "/nonexistent/y"]
    let result = try Program.run("python3", ["-c", script, Program.toolPath] + set)
    #expect(result.output == "hidden\n['0']\n", "\(result)")
  }
}
