/**
 * Two gateways and three workers with a provider stub behind `stub/model`, two more behind `routed/cheap` and `routed/dear`, and a stub of
 * Stripe, for all files of this folder that neither kill nor configure a process. The first file that needs the fleet starts it, and the
 * end of the test process stops it: a start costs more CPU time than most of these tests. It has servers of its own, since its workers
 * would answer other fleets on the same bus. Each test makes customers of its own, and leaves the stubs answering, the models runnable and
 * the processes running as at first. It has no prober: a test that needs one has it by `fleet.probing()`.
 */
import type { ServiceUrls } from "../../scripts/services.ts";
import { atEnd } from "../support/processes/at-end.ts";
import { startProviderStub, type ProviderStub } from "../support/providers/provider-stub.ts";
import { chat } from "../support/providers/stub-answers.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../support/providers/stub-catalog.ts";
import { Fleet } from "../support/servers/fleet.ts";
import { ownServices } from "../support/servers/own-services.ts";
import { StripeStub } from "../support/stripe/stripe-stub.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Input is free and one output token costs a cent, so a request with max_tokens 1 reserves and costs 0.01 USD. */
export const prices_per_1m_usd = { input: "0", output: "10000" };

/** For the three providers. */
export const serviceKey = "sk-stub";

export interface SharedFleet {
  fleet: Fleet;
  stub: ProviderStub;
  cheap: ProviderStub;
  dear: ProviderStub;
  stripe: StripeStub;
  urls: ServiceUrls;
}

let started: Promise<SharedFleet> | null = null;

export function sharedFleet(): Promise<SharedFleet> {
  return (started ??= start());
}

async function start(): Promise<SharedFleet> {
  const stack = new AsyncDisposableStack();
  atEnd(() => stack.disposeAsync());
  const services = await ownServices();
  if (services === null) throw new Error("There are no servers");
  const { urls } = stack.use(services);
  const [stub, cheap, dear] = [await startProviderStub(), await startProviderStub(), await startProviderStub()];
  for (const one of [stub, cheap, dear]) stack.use(one).answer(chat("Hello"));
  const stripe = stack.use(new StripeStub());
  const { path } = stack.use(await temporaryFolder());
  const catalogDir = await writeCatalog(path, {
    providers: Object.entries({ stub, cheap, dear }).map(([id, { url }]) => stubProvider({ id, base_url: url })),
    models: {
      stub: [
        stubModel({ prices_per_1m_usd }),
        stubModel({ id: "routed/cheap", routes: [routeAt("cheap", "1.00")] }),
        stubModel({ id: "routed/dear", routes: [routeAt("dear", "10.00")] }),
      ],
    },
  });
  const plan = { gateways: 2, workers: 3, services: urls, catalogDir, metrics: true } as const;
  const environment = { [stubKeyEnv]: serviceKey, ...stripe.environment };
  const fleet = stack.use(await Fleet.start({ ...plan, environment }));
  await fleet.runnable(["stub/model", "routed/cheap", "routed/dear"]);
  return { fleet, stub, cheap, dear, stripe, urls };
}

function routeAt(provider: string, price: string) {
  return { provider, upstream_model: "m", prices_per_1m_usd: { input: price, output: price }, hidden_input_tokens: 0 };
}
