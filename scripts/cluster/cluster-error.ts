/** Why the fleet does not start, in one line for the operator. */
export class ClusterError extends Error {
  override name = "ClusterError";
}
