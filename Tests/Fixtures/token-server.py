"""A server that takes each refresh token once: token-server.py SOCKET LIFETIME GRACE

It listens on a Unix socket. A request is a line with the name of a client and its refresh token, a number. The answer is
a line with the next refresh token, and the time at which the access token that comes with it expires, in milliseconds
since 1970. LIFETIME is in milliseconds, and an answer takes a few of them.

A token that comes again in less than GRACE seconds gets the same answer, if the next one wasn't used yet. Otherwise, a
server would sign the user out. This one says so, and gives a new token, so that a test can go on.

It prints "ready", and a line for each thing that happens, and ends when its standard input ends:

  grant TOKEN CLIENT                   a token came for the first time
  grace TOKEN CLIENT                   a token came again, and got the same answer
  reuse TOKEN CLIENT                   a token came again: the user is signed out
  unknown TOKEN CLIENT                 a token that was never given
  overlap TOKEN CLIENT TOKEN CLIENT    a request came while another one was being answered
"""

import os
import socketserver
import sys
import threading
import time

lifetime, grace = int(sys.argv[2]), float(sys.argv[3])
lock = threading.Lock()
# The next token and the time of the first use, by the token
used = {}
last = 1
pending = []


def tell(*words):
    print(*words, flush=True)


def next_token(token, client):
    global last
    now = time.monotonic()
    if not 0 < token <= last:
        tell("unknown", token, client)
    elif token in used:
        following, first_use = used[token]
        if following not in used and now - first_use < grace:
            tell("grace", token, client)
            return following
        tell("reuse", token, client)
    else:
        tell("grant", token, client)
    last += 1
    if token not in used:
        used[token] = last, now
    return last


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        client, text = self.rfile.readline().decode().split()
        request = int(text), client
        with lock:
            for other in pending:
                tell("overlap", *request, *other)
            pending.append(request)
            following = next_token(*request)
        time.sleep(0.003)
        with lock:
            pending.remove(request)
        try:
            self.wfile.write(f"{following} {int(time.time() * 1000) + lifetime}\n".encode())
        except OSError:
            # The client was killed.
            pass


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        # A client that was killed has sent no request.
        if not isinstance(sys.exc_info()[1], (OSError, ValueError)):
            super().handle_error(request, client_address)


server = Server(sys.argv[1], Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
tell("ready")
sys.stdin.read()
os._exit(0)
