/** The live members of a group, by their heartbeats. A member that was silent for too many ticks, or said goodbye, is not one. */
export class Membership {
  readonly #silentTicks = new Map<string, number>();
  readonly #silentTicksMax: number;

  constructor(silentTicksMax: number) {
    this.#silentTicksMax = silentTicksMax;
  }

  get ids(): string[] {
    return [...this.#silentTicks.keys()];
  }

  /** How long a member has been silent; Infinity for an id that is no member. */
  silentTicks(id: string): number {
    return this.#silentTicks.get(id) ?? Number.POSITIVE_INFINITY;
  }

  heard(id: string): void {
    this.#silentTicks.set(id, 0);
  }

  left(id: string): void {
    this.#silentTicks.delete(id);
  }

  tick(): void {
    for (const [id, ticks] of this.#silentTicks) {
      if (ticks + 1 > this.#silentTicksMax) this.#silentTicks.delete(id);
      else this.#silentTicks.set(id, ticks + 1);
    }
  }

  clear(): void {
    this.#silentTicks.clear();
  }
}
