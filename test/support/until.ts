const firstPauseMs = 5;
/** A long wait must not take the processor from what it waits for. */
const pauseMsMax = 40;

/** Waits for a condition by checking it, after longer and longer pauses. @throws Error after `limitMs` */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  for (let pauseMs = firstPauseMs; !(await condition()); pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
    if (performance.now() > deadline) throw new Error(`The condition did not come true within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
