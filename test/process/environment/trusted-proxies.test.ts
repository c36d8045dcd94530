/** Sign-in behind a proxy: strangers use up their own tries, and not those of everybody behind it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { signInTriesOfNetworkMax } from "../../../src/accounts/limits.ts";
import { Fleet } from "../../support/servers/fleet.ts";

let service: Fleet;
beforeAll(async () => {
  service = await Fleet.start({ services: null, inTest: true, environment: { TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8" } });
}, 60_000);
afterAll(() => service[Symbol.asyncDispose](), 30_000);

async function reset(forwarded: string): Promise<number> {
  const response = await fetch(`${service.url()}/console/reset`, {
    method: "POST",
    headers: { "x-forwarded-for": forwarded, "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ email: `${crypto.randomUUID()}@example.test` }),
  });
  await response.text();
  return response.status;
}

test("the tries of a client behind a trusted proxy are its own, whatever it writes before the proxy's line", async () => {
  const statuses: number[] = [];
  for (let sent = 0; sent < signInTriesOfNetworkMax + 2; sent++)
    statuses.push(await reset(`192.0.2.${sent}, 198.51.100.7, 10.0.0.4`));
  expect(statuses.slice(-3)).toEqual([200, 429, 429]);
  expect([await reset("198.51.100.8"), await reset("198.51.100.7")]).toEqual([200, 429]);
});
