/** Waits for a condition by checking it every few milliseconds. @throws Error after `limitMs` */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`The condition did not come true within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
