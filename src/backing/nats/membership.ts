/** Who is there, by their beats: who was silent for too many turns, or said goodbye, is not. */
export class Roster {
  readonly #silentTurns = new Map<string, number>();
  readonly #silentTurnsMax: number;

  constructor(silentTurnsMax: number) {
    this.#silentTurnsMax = silentTurnsMax;
  }

  get ids(): string[] {
    return [...this.#silentTurns.keys()];
  }

  /** How long somebody has been silent; Infinity for who is not there. */
  silentTurns(id: string): number {
    return this.#silentTurns.get(id) ?? Number.POSITIVE_INFINITY;
  }

  heard(id: string): void {
    this.#silentTurns.set(id, 0);
  }

  left(id: string): void {
    this.#silentTurns.delete(id);
  }

  turn(): void {
    for (const [id, turns] of this.#silentTurns) {
      if (turns + 1 > this.#silentTurnsMax) this.#silentTurns.delete(id);
      else this.#silentTurns.set(id, turns + 1);
    }
  }

  clear(): void {
    this.#silentTurns.clear();
  }
}
