/** Waits for a condition by polling. @throws Error after `limitMs` */
export async function until(condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`The condition was not met within ${limitMs} ms`);
    await pause(10);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
