import { expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";

const root = dirname(dirname(import.meta.dir));

test.each(["NO_PROXY", "no_proxy"])(
  "the command line sends the operator token to no proxy of the way out, beside %s",
  async (name) => {
    const [asked, proxied]: [string[], string[]] = [[], []];
    using service = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ headers }) => told(asked, headers) });
    using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: ({ headers }) => told(proxied, headers) });
    const env = {
      PATH: process.env["PATH"],
      HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
      [name]: ".example",
      WEIR_URL: `http://127.0.0.1:${service.port}`,
      WEIR_TOKEN: "a-token-of-thirty-two-characters",
    };
    const child = spawn("node", ["scripts/bootstrap.mjs", "weir", "workspace", "list"], { cwd: root, env, stdio: "ignore" });
    await once(child, "exit");
    expect([asked[0], proxied]).toEqual(["Bearer a-token-of-thirty-two-characters", []]);
  },
  30_000,
);

function told(authorizations: string[], headers: Headers): Response {
  authorizations.push(headers.get("authorization") ?? "");
  return Response.json({ data: [] });
}
