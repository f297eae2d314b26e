// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle

/// A web server that answers each request by what a closure returns, until a graceful shutdown.
struct TLSServer: Service {
  typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>
  typealias Response = (status: HTTPResponseStatus, body: String)

  let context: NIOSSLContext
  let port: Int
  let logger: Logger
  let respond: @Sendable (HTTPRequestHead) async -> Response

  func run() async throws {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.backlog, value: 256)
      .bind(host: "127.0.0.1", port: port) { [context] channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(NIOSSLServerHandler(context: context))
          try pipeline.configureHTTPServerPipeline()
          return try Connection(wrappingChannelSynchronously: channel)
        }
      }
    logger.info("listening on port \(server.channel.localAddress?.port ?? 0)")
    try await server.executeThenClose { connections in
      await withDiscardingTaskGroup { group in
        do {
          for try await connection in connections.cancelOnGracefulShutdown() {
            group.addTask { await serve(connection) }
          }
        } catch {
          logger.error("The server has ended: \(error)")
        }
        group.cancelAll()
      }
    }
  }

  private func serve(_ connection: Connection) async {
    // A client may close its connection at any time.
    try? await connection.executeThenClose { requests, responses in
      for try await case .head(let head) in requests {
        let (status, body) = await respond(head)
        let headers: HTTPHeaders = ["content-length": "\(body.utf8.count)"]
        try await responses.write(
          contentsOf: [
            .head(.init(version: head.version, status: status, headers: headers)),
            .body(.byteBuffer(ByteBuffer(string: body))), .end(nil),
          ])
      }
    }
  }
}
