/** What can be wrong with a connection that a system has no name for. */

/** What came is no HTTP/1.1. */
export class MalformedAnswerError extends Error {
  override name = "MalformedAnswerError";
}

/** The other side closed the connection before its answer was over. */
export class ConnectionClosedError extends Error {
  override name = "ConnectionClosedError";
}
