/** Connection errors for which the system has no name. */

/** The bytes are not a valid HTTP/1.1 response. */
export class MalformedAnswerError extends Error {
  override name = "MalformedAnswerError";
}

/** The provider closed the connection before the end of its response. */
export class ConnectionClosedError extends Error {
  override name = "ConnectionClosedError";
}
