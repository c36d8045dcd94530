/** The Console over a database, without a network: what a browser with a session gets. */
import { Passwords } from "../../src/accounts/sessions/passwords.ts";
import { formToken } from "../../src/accounts/sessions/browser.ts";
import type { SignInWay } from "../../src/accounts/sessions/store.ts";
import { startSession } from "../../src/accounts/sessions/sign-in.ts";
import type { Database } from "../../src/backing/backing.ts";
import { consoleRoutes } from "../../src/console/routes.ts";
import { Control } from "./control.ts";

export interface Shown {
  status: number;
  headers: Headers;
  /** The page with entities. */
  text: string;
}

/** A signed-in browser. */
export interface Browser {
  /** The cookie's value. */
  token: string;
}

export class ConsoleWorld {
  readonly control: Control;
  readonly sql: Database;
  readonly #app: ReturnType<typeof consoleRoutes>;

  constructor(sql: Database) {
    this.sql = sql;
    this.control = new Control(sql);
    const { parts, operator, clock } = this.control;
    this.#app = consoleRoutes({ control: parts, operator, passwords: new Passwords(clock) });
  }

  /** @param email null: the operator @param bothFactors whether a second factor was given too */
  async signIn(
    email: string | null,
    { bothFactors = true, way = "password" }: { bothFactors?: boolean; way?: SignInWay } = {},
  ): Promise<Browser> {
    const { clock } = this.control;
    return startSession(
      { email, way: email === null ? "operator token" : way, agent: "Test browser", bothFactors },
      { sql: this.sql, clock },
    );
  }

  get(path: string, browser?: Browser, headers: Record<string, string> = {}): Promise<Shown> {
    return this.send(new Request(`http://localhost${path}`, { headers: { ...headersOf(browser), ...headers } }));
  }

  /** Sends a form as the browser does from its own page. A given `form_token` or header takes the place of the right one. */
  post(path: string, fields: Record<string, string>, browser?: Browser, headers: Record<string, string> = {}): Promise<Shown> {
    const form = new URLSearchParams({ ...(browser && { form_token: formToken(browser.token) }), ...fields });
    const sent = { ...headersOf(browser), "sec-fetch-site": "same-origin", ...headers };
    return this.send(new Request(`http://localhost${path}`, { method: "POST", headers: sent, body: form }));
  }

  /** Sends a form with a file in its field `file`, as `post` does; null: none was chosen. */
  upload(
    path: string,
    { fields, file, filename = "bom.json" }: { fields: Record<string, string>; file: string | null; filename?: string },
    browser: Browser,
  ): Promise<Shown> {
    const form = new FormData();
    for (const [name, value] of Object.entries({ form_token: formToken(browser.token), ...fields })) form.set(name, value);
    if (file !== null) form.set("file", new File([file], filename, { type: "application/json" }));
    const headers = { ...headersOf(browser), "sec-fetch-site": "same-origin" };
    return this.send(new Request(`http://localhost${path}`, { method: "POST", headers, body: form }));
  }

  async send(request: Request): Promise<Shown> {
    request.headers.set("host", request.headers.get("host") ?? "localhost");
    const response = await this.#app.handle(request);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

function headersOf(browser: Browser | undefined): Record<string, string> {
  return { host: "localhost", ...(browser && { cookie: `weir=${browser.token}` }) };
}

/** The session that an answer starts. */
export function sessionOf({ headers }: Shown): Browser {
  const [, token] = /^(?:__Host-)?weir=([\w-]{43});/.exec(headers.get("set-cookie") ?? "") ?? [];
  if (token === undefined) throw new Error(`The answer starts no session: ${headers.get("set-cookie")}`);
  return { token };
}
