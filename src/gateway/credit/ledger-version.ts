/**
 * Versions of what counters copy from the ledger: the epoch of the workspace's ledger, then a number within it. A database that went back in
 * time gives its old numbers again, but in a later epoch, so counters take what it says and no late message from before.
 */

/** Counters keep versions as doubles, exact up to 2^53: twenty entries a second fill an epoch in thirteen years, and epochs are a million. */
const numbersPerEpoch = 2n ** 33n;

interface Numbered {
  epoch: bigint;
  /** The sequence of the ledger, or the version of a key's month. */
  number: bigint;
}

export function ledgerVersion({ epoch, number }: Numbered): bigint {
  return epoch * numbersPerEpoch + number;
}

/** @param version what counters have; zero or more */
export function versionParts(version: bigint): Numbered {
  return { epoch: version / numbersPerEpoch, number: version % numbersPerEpoch };
}
