/** Calls of an OpenID Connect provider are bounded, and use TLS beyond this machine. */
import { afterAll, expect, test } from "bun:test";
import { oidcAnswerBytesMax, oidcCallMs } from "../../../src/accounts/limits.ts";
import { oidcFetch } from "../../../src/accounts/oidc/oidc-provider.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { until } from "../../support/until.ts";

let waiting = 0;
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/large") return new Response("x".repeat(oidcAnswerBytesMax + 1));
    if (pathname === "/broken") return new Response("broken", { status: 502 });
    if (pathname === "/moved") return Response.redirect("http://127.0.0.1:9/", 302);
    if (pathname !== "/silent") return new Response("x".repeat(oidcAnswerBytesMax));
    waiting++;
    return new Promise<Response>(() => {});
  },
});
afterAll(() => server.stop(true));

const ask = (url: string, clock = new ManualClock()) =>
  oidcFetch(clock)(url, { method: "GET", headers: {}, body: undefined, redirect: "manual" });
const here = (path: string) => `http://127.0.0.1:${server.port}${path}`;

test("the largest answer is taken, and one byte more is no answer", async () => {
  expect((await (await ask(here("/"))).text()).length).toBe(oidcAnswerBytesMax);
  expect(String(await failureOf(ask(here("/large"))))).toContain("The provider did not answer");
});

test("a provider that is silent for five seconds is away", async () => {
  const clock = new ManualClock();
  const failure = failureOf(ask(here("/silent"), clock));
  await until(() => waiting === 1);
  clock.advance(oidcCallMs);
  expect(String(await failure)).toContain("ProviderUnavailableError");
});

test("a failing provider is away, and a redirect is not followed", async () => {
  expect(String(await failureOf(ask(here("/broken"))))).toContain("The provider answered 502");
  expect((await ask(here("/moved"))).status).toBe(302);
});

test.each(["http://accounts.example.com/token", "http://10.0.0.1/token", "ftp://accounts.example.com/"])(
  "%s gets no request, for it has no TLS",
  async (url) => {
    expect(String(await failureOf(ask(url)))).toContain("without TLS");
  },
);
