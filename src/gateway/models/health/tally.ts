/** The counts of one route, as sums, so that counts of several gateways and hours can be added. */
export interface Tally {
  answered: number;
  /** Answers that the provider did not give or broke off. */
  failed: number;
  /** Answers whose first token was timed, and the sum of those times. */
  timed: number;
  firstTokenMs: number;
}

/** By `Route.entry`. */
export type Tallies = Map<string, Tally>;

export function addTally(tallies: Tallies, entry: string, added: Partial<Tally>): void {
  const present = tallies.get(entry) ?? { answered: 0, failed: 0, timed: 0, firstTokenMs: 0 };
  tallies.set(entry, {
    answered: present.answered + (added.answered ?? 0),
    failed: present.failed + (added.failed ?? 0),
    timed: present.timed + (added.timed ?? 0),
    firstTokenMs: present.firstTokenMs + (added.firstTokenMs ?? 0),
  });
}
