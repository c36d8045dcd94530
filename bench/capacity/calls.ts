/** @returns the number of masters of a Redis Cluster that have a part of a message, on average: each gets one call */
export function callsOf(requests: number, masters: number): number {
  return masters * (1 - (1 - 1 / masters) ** requests);
}
