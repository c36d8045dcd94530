/** Something in a catalog file that must be changed. */
export interface Problem {
  file: string;
  /** Such as `credential_sets[0].fields[1].key`; empty where the file as a whole is meant. */
  field: string;
  /** What is wrong, and what to write instead. */
  message: string;
}

export function told({ file, field, message }: Problem): string {
  return field === "" ? `${file}: ${message}` : `${file}: ${field}: ${message}`;
}
