/** A refusal to start, in one line for a person. */
export class ClusterError extends Error {
  override name = "ClusterError";
}
