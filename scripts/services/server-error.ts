/** Why a server cannot start on this machine, in one sentence for the operator. */
export class ServerError extends Error {
  override name = "ServerError";
}
