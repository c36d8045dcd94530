/** Callbacks for the end of a test process, when all its files are done. Bun's test runner ends without the event "exit". */
const callbacks: (() => void | PromiseLike<void>)[] = [];

/** Called once, in the reverse order of registration. */
export function atEnd(callback: () => void | PromiseLike<void>): void {
  callbacks.push(callback);
}

export async function runAtEnd(): Promise<void> {
  for (let callback = callbacks.pop(); callback !== undefined; callback = callbacks.pop()) await callback();
}
