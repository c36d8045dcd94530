/** Servers for one test, which may kill them. */
import { startServices, type Services } from "../../../scripts/services.ts";
import { testServers } from "./services.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** null if this machine has no servers. `folder` contains all that they store. */
export async function ownServices(): Promise<(Services & { folder: string }) | null> {
  const servers = await testServers();
  if (servers === null) return null;
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder());
  const services = stack.use(await startServices({ servers, folder: folder.path }));
  const kept = stack.move();
  return { ...services, folder: folder.path, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
