/** A count for each holder, such as a key or a workspace; holders at zero take no memory. */
export class HolderCounts {
  readonly #counts = new Map<string, number>();

  of(holder: string): number {
    return this.#counts.get(holder) ?? 0;
  }

  add(holder: string, change: number): void {
    const count = this.of(holder) + change;
    if (count === 0) this.#counts.delete(holder);
    else this.#counts.set(holder, count);
  }
}
