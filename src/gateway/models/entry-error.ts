/** An entry that matches the schema and is still invalid. */
export class EntryError extends Error {
  override name = "EntryError";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}
