/**
 * Providers that the operator adds, for the control API in the test's process: the models are read from files and the database as a
 * gateway reads them, and the providers are answers of this file. One accepts `goodKey` alone.
 */
import { EmbeddedBus } from "../../../src/backing/embedded/bus.ts";
import { openModels, type Models } from "../../../src/gateway/models/models.ts";
import { recordLaunchCheck } from "../../../src/gateway/models/store.ts";
import { UpstreamFailure } from "../../../src/gateway/providers/provider.ts";
import { DeadlineError } from "../../../src/kernel/clock.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import type { Control } from "../control.ts";
import { stubModel, stubProvider, writeCatalog } from "../providers/stub-catalog.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export const goodKey = "sk-a-key-that-the-provider-knows";
export const wrongKey = "sk-a-key-that-it-does-not-know";
/** `acme` knows it in its other region alone. */
export const foreignKey = "sk-a-key-of-its-other-region";
/** `acme` does not answer in time. */
export const lateKey = "sk-a-key-that-it-thinks-about";
/** The operator's acts. */
export const acts = { terms_checked: true, subprocessor_listed: true };

export class ServiceProviders implements AsyncDisposable {
  readonly models: Models;
  /** How many models were called with a key. */
  calls = 0;
  readonly #control: Control;
  readonly #stack: AsyncDisposableStack;

  private constructor(control: Control, models: Models, stack: AsyncDisposableStack) {
    this.#control = control;
    this.models = models;
    this.#stack = stack;
  }

  /**
   * `acme` with two models has neither key nor read terms, `set` has both from the environment and the files but cannot be reached, `open`
   * takes no key and its terms were not read.
   */
  static async in(control: Control): Promise<ServiceProviders> {
    await using stack = new AsyncDisposableStack();
    const { path: folder } = stack.use(await temporaryFolder());
    const regions = [{ name: "China", base_url: "https://acme.cn/v1", source: "https://acme.example/docs", seen: "2026-11-29" }];
    const unread = { terms_checked: false, subprocessor_listed: false, terms: "https://acme.example/terms" };
    await writeCatalog(folder, {
      providers: [
        stubProvider({ id: "acme", name: "Acme", base_url: "https://acme.example/v1", key_env: "ACME_KEY", regions, ...unread }),
        stubProvider({ id: "set", name: "Set", base_url: "https://set.example/v1", key_env: "SET_KEY" }),
        stubProvider({ id: "open", name: "Open", base_url: "https://open.example/v1", key_env: null, ...unread }),
      ],
      models: {
        acme: [stubModel({ id: "acme/one", name: "Acme One" }), stubModel({ id: "acme/two" })],
        set: [stubModel({ id: "set/one" })],
        open: [stubModel({ id: "open/one" })],
      },
    });
    const { sql, clock, log } = { sql: control.parts.sql, clock: control.clock, log: silentLog };
    const bus = stack.use(new EmbeddedBus({ sql, clock, log }));
    const environmentKey = (name: string) => (name === "SET_KEY" ? new Secret(goodKey) : null);
    const { keyring } = control;
    const models = stack.use(await openModels({ folder, sandbox: true, sql, bus, clock, log, environmentKey, keyring }));
    const opened = new ServiceProviders(control, models, stack.move());
    control.parts.models = models;
    control.parts.fetchProviders = async ({ url, headers }) => {
      if (url.host === "set.example") throw new Error("ENOTFOUND");
      const key = headers["authorization"]?.replace("Bearer ", "");
      if (key === lateKey) throw new DeadlineError("late");
      const status = key === (url.host === "acme.cn" ? foreignKey : goodKey) ? 200 : 401;
      return { status, headers: {}, body: Buffer.from("{}") };
    };
    control.parts.callWith = () => async () => {
      opened.calls++;
      throw new UpstreamFailure("upstream_auth", "status 401");
    };
    return opened;
  }

  /** Stores the outcome of a launch check, as the prober does. @param code null: it passed */
  async checked(id: string, code: string | null): Promise<void> {
    const route = this.models.find(id)?.routes[0];
    if (route === undefined) throw new Error(`There is no model ${id}`);
    const check = { model: id, provider: route.provider.id, entry: route.entry, passed: code === null, code };
    await recordLaunchCheck(this.#control.parts.sql, check);
    await this.models.refreshChecks();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
