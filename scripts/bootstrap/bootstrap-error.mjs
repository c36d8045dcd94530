/** Something the person at the keyboard can act on; shown without a stack. */
export class BootstrapError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.name = "BootstrapError";
    this.exitCode = exitCode;
  }
}
