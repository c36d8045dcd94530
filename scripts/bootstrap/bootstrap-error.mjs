/** An error that the user can act on, printed without a stack. */
export class BootstrapError extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.name = "BootstrapError";
    this.exitCode = exitCode;
  }
}
