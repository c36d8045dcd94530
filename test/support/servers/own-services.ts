/** Servers that a test may kill: its own, not those shared by the test process. */
import { startServices, type Services } from "../../../scripts/services.ts";
import { testServers } from "./services.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** null where this machine has no servers. `folder` holds all that they store. */
export async function ownServices(): Promise<(Services & { folder: string }) | null> {
  const servers = await testServers();
  if (servers === null) return null;
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const services = stack.use(await startServices({ servers, folder: folder.path }));
  const kept = stack.move();
  return { ...services, folder: folder.path, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
