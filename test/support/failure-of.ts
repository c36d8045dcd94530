/** The error that a promise rejects with. The runner's own `rejects` blocks the event loop, which stops a manual clock. */
export function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`It did not fail: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
