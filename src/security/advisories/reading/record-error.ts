/** Why a record is invalid. `path` is the place, such as `affected[0].versions[3]`; empty for the record itself. */
export class RecordError extends Error {
  override name = "RecordError";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(path === "" ? `The record ${problem}` : `"${path}" ${problem}`);
    this.path = path;
  }
}
