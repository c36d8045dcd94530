/** A service in one process whose one model, `stub/model`, is served by a provider stub. */
import { atEnd } from "../processes/at-end.ts";
import { startProviderStub, type ProviderStub } from "../providers/provider-stub.ts";
import { chat } from "../providers/stub-answers.ts";
import { stubKeyEnv, writeStubCatalog } from "../providers/stub-catalog.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { Fleet } from "./fleet.ts";

interface StubFleet {
  stub: ProviderStub;
  fleet: Fleet;
}

let started: Promise<StubFleet> | null = null;

/**
 * Resolves when the model can be called. All files share the process, which the end of the test process stops: each makes customers
 * of its own, and leaves the stub answering as at first.
 */
export async function startStubFleet(): Promise<StubFleet> {
  started ??= startShared();
  const shared = await started;
  shared.stub.answer(chat("Hello from the stub"));
  return shared;
}

async function startShared(): Promise<StubFleet> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const stub = stack.use(await startProviderStub());
  const { path } = stack.use(await temporaryFolder());
  const catalogDir = await writeStubCatalog(path, { url: stub.url });
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }));
  await fleet.runnable("stub/model");
  return { stub, fleet };
}
