/** Something that must not be. */
export interface Violation {
  /** What was promised, in a few words. */
  rule: string;
  detail: string;
  /** Of whom it speaks; null: of no generation. */
  generation: string | null;
  /** Wall-clock milliseconds, where it has a time. */
  at: number | null;
}
