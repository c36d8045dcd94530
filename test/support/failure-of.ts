/** The error that a promise rejects with; the runner's own `rejects` blocks the loop, which stops a clock of ours. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It did not fail: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
