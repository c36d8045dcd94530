/**
 * Members of one workspace send bodies a byte a second, others ask for its most expensive page, and strangers open the sign-in and Stripe's
 * webhook. Another workspace's forms, files and pages, the operator's sign-in and Stripe's events are answered meanwhile.
 */
import { connect } from "node:net";
import { formToken } from "../../../src/accounts/sessions/browser.ts";
import { Fleet, operatorToken } from "../../support/servers/fleet.ts";
import { delivery, StripeStub } from "../../support/stripe/stripe-stub.ts";
import { tallied } from "./bodies.ts";
import type { PartOptions } from "./part.ts";

const members = 20;
const slowSocketsOfMember = 4;
const unsignedPosts = 128;
const strangersAtSignIn = 128;
const readers = 16;
const connectionsOfReader = 2;
/** Findings of the page that is asked for: packages × versions × issues. */
const packages = 4;
const versions = 500;
const issues = 10;
const scanMsMax = 300_000;
const everyMs = 250;
/** Between the end of a slow body and the next one on its socket. */
const reopensAfterMs = 1_000;
/** The aim, and the longest answer on a machine that is busy besides. */
const aimMs = 1_000;
const answerMsMax = 5_000;

interface Person {
  workspace: string;
  session: string;
}

export async function slowBodiesPart({ seconds, say }: PartOptions): Promise<string[]> {
  using stripe = new StripeStub();
  await using fleet = await Fleet.start({ services: null, environment: { ...stripe.environment, CONSOLE: "on" } });
  const { hostile, reading, honest, project } = await prepared(fleet, say);
  const before = await asked(fleet, honest, 3);
  say(`before, p50/p99 in ms: ${shown(before)}`);
  const stop = new AbortController();
  const attack = { fleet, signal: stop.signal, ended: {} as Record<string, number> };
  const attacks = [
    ...hostile.flatMap((person) => Array.from({ length: slowSocketsOfMember }, (_, index) => slowMember(person, index, attack))),
    ...Array.from({ length: unsignedPosts }, () => slowPost("/api/stripe-webhook", ["Stripe-Signature: t=1,v1=00"], attack)),
    ...Array.from({ length: strangersAtSignIn }, () => slowPost("/console/sign-in", formHead, attack)),
    ...reading.flatMap((person) => Array.from({ length: connectionsOfReader }, () => readAgain(person, project, attack))),
  ];
  say(
    `${members * slowSocketsOfMember} bodies of ${members} members, ${unsignedPosts} unsigned posts, ${strangersAtSignIn} strangers, a byte a second each, and ${readers} readers`,
  );
  const during = await asked(fleet, honest, seconds);
  stop.abort();
  await Promise.all(attacks);
  say(`during, p50/p99 in ms: ${shown(during)}`);
  say(`what the attackers got: ${tallied(attack.ended)}`);
  const slowest = Math.max(...during.map(({ times }) => quantile(times, 0.99)));
  say(`the highest p99 is ${slowest.toFixed(0)} ms, the aim ${aimMs} ms`);
  return during.flatMap(({ name, times, statuses, expected }) => [
    ...Object.keys(statuses)
      .filter((status) => status !== String(expected))
      .map((status) => `${name} was answered with ${status}`),
    ...(quantile(times, 1) < answerMsMax ? [] : [`${name} took ${quantile(times, 1).toFixed(0)} ms`]),
  ]);
}

async function prepared(fleet: Fleet, say: (line: string) => void) {
  const operator = fleet.operator();
  await operator.call("POST", "/advisories", { records: Array.from({ length: issues }, (_, index) => advisory(index)) });
  for (const name of ["hostile", "honest"]) await operator.call("POST", "/workspaces", { name });
  const person = async (workspace: string, email: string): Promise<Person> => {
    await operator.call("POST", "/members", { workspace, email, role: "member" });
    const { url } = await operator.call<{ url: string }>("POST", "/session-links", { email });
    const headers = { "sec-fetch-site": "same-origin" };
    const opened = await fetch(fleet.url() + new URL(url).pathname, { method: "POST", headers, redirect: "manual" });
    const [, session = ""] = /^weir=([\w-]+)/.exec(opened.headers.get("set-cookie") ?? "") ?? [];
    return { workspace, session };
  };
  const people = async (name: string, count: number): Promise<Person[]> => {
    const all: Person[] = [];
    for (let index = 0; index < count; index++) all.push(await person("hostile", `${name}${index}@hostile.test`));
    return all;
  };
  const [hostile, reading] = [await people("slow", members), await people("reader", readers)];
  const honest = await person("honest", "one@honest.test");
  const [first] = reading;
  const startedAt = performance.now();
  if (first) await upload(fleet, first, { project: "large", document: document(versions) });
  const project = await operator.call<{ id: string }>("GET", "/projects/large?workspace=hostile");
  for (let state = ""; state !== "completed" && performance.now() - startedAt < scanMsMax; await Bun.sleep(500)) {
    ({ scan_status: state } = await operator.call<{ scan_status: string }>("GET", `/projects/${project.id}?workspace=hostile`));
  }
  say(`${packages * versions * issues} findings after ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
  const loadedAt = performance.now();
  if (first) await send(fleet, `/console/w/hostile/projects/${project.id}`, { headers: browserOf(first) });
  say(`their page takes ${(performance.now() - loadedAt).toFixed(0)} ms`);
  return { hostile, reading, honest, project: project.id };
}

interface Attack {
  fleet: Fleet;
  signal: AbortSignal;
  /** Statuses of answers. */
  ended: Record<string, number>;
}

const formHead = ["Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin"];

/** Forms, files and calls of a member in turn, each a byte a second. */
function slowMember({ session, workspace }: Person, index: number, attack: Attack): Promise<void> {
  const cookie = `Cookie: weir=${session}`;
  const json = ["Content-Type: application/json", "Sec-Fetch-Site: same-origin"];
  if (index === 0) return slowPost(`/api/console/sboms?workspace=${workspace}&project=slow`, [cookie, ...json], attack);
  if (index === 1) return slowPost("/api/console/keys", [cookie, ...json], attack);
  return slowPost(`/console/w/${workspace}/products/new`, [cookie, ...formHead], attack);
}

/** Sends a body a byte a second, and another one when it was ended. */
async function slowPost(path: string, head: readonly string[], { fleet, signal, ended }: Attack): Promise<void> {
  const { port = 0 } = fleet.gateways[0] ?? {};
  while (!signal.aborted) {
    const socket = connect(port, "127.0.0.1");
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const [, status = "none"] = /^HTTP\/1.1 (\d+)/.exec(data.toString()) ?? [];
      ended[status] = (ended[status] ?? 0) + 1;
      socket.destroy();
    });
    socket.write(`POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${head.join("\r\n")}\r\nContent-Length: 10000\r\n\r\n`);
    const dripping = setInterval(() => socket.write("a"), 1_000);
    const leave = () => socket.destroy();
    signal.addEventListener("abort", leave);
    await closed;
    signal.removeEventListener("abort", leave);
    clearInterval(dripping);
    await Bun.sleep(reopensAfterMs);
  }
}

async function readAgain({ workspace, session }: Person, project: string, { fleet, signal, ended }: Attack): Promise<void> {
  const headers = { cookie: `weir=${session}` };
  while (!signal.aborted) {
    const answer = await fetch(`${fleet.url()}/console/w/${workspace}/projects/${project}`, { headers, signal }).catch(
      () => null,
    );
    await answer?.arrayBuffer().catch(() => null);
    const status = `page ${answer?.status ?? "none"}`;
    ended[status] = (ended[status] ?? 0) + 1;
    await Bun.sleep(20);
  }
}

interface Asked {
  name: string;
  expected: number;
  statuses: Record<string, number>;
  times: number[];
}

/** What others ask for meanwhile, all at once and again every quarter of a second. */
async function asked(fleet: Fleet, honest: Person, seconds: number): Promise<Asked[]> {
  const kinds: [name: string, expected: number, ask: (number: number) => Promise<Response>][] = [
    ["page", 200, () => send(fleet, "/console/w/honest/products", { headers: browserOf(honest) })],
    ["form", 303, () => send(fleet, "/console/w/honest/products/new", form(honest))],
    ["file", 201, (number) => upload(fleet, honest, { project: `p${number}`, document: document(2) })],
    ["call", 200, () => send(fleet, "/api/console/keys?workspace=honest", { headers: browserOf(honest) })],
    ["signed event", 200, () => fetch(signedEvent(fleet))],
    ["operator's sign-in", 303, () => send(fleet, "/console/sign-in", signIn())],
    ["operator's call", 200, () => fleet.operator().send("/api/console/workspaces")],
  ];
  const all = kinds.map(([name, expected, ask]) => ({
    name,
    expected,
    ask,
    statuses: {} as Record<string, number>,
    times: [] as number[],
  }));
  const endsAt = performance.now() + seconds * 1_000;
  for (let number = 0; performance.now() < endsAt; number++) {
    const startedAt = performance.now();
    await Promise.all(
      all.map(async ({ ask, statuses, times }) => {
        const status = await ask(number).then(
          async (response) => (await response.arrayBuffer(), response.status),
          () => 0,
        );
        times.push(performance.now() - startedAt);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }),
    );
    await Bun.sleep(Math.max(0, everyMs - (performance.now() - startedAt)));
  }
  return all;
}

function send(fleet: Fleet, path: string, sent: RequestInit): Promise<Response> {
  return fetch(fleet.url() + path, { redirect: "manual", ...sent });
}

function browserOf({ session }: Person): Record<string, string> {
  return { cookie: `weir=${session}`, "sec-fetch-site": "same-origin" };
}

function form(person: Person): RequestInit {
  const name = `product ${crypto.randomUUID()}`;
  const body = new URLSearchParams({ form_token: formToken(person.session), action: "create", name });
  return { method: "POST", headers: browserOf(person), body };
}

function signIn(): RequestInit {
  const body = new URLSearchParams({ operator_token: operatorToken });
  return { method: "POST", headers: { "sec-fetch-site": "same-origin" }, body };
}

function signedEvent(fleet: Fleet): Request {
  const event = { id: `evt_${crypto.randomUUID()}`, type: "invoice.paid", livemode: false, data: { object: { id: "in_1" } } };
  return delivery(event, { url: fleet.url() });
}

function upload(
  fleet: Fleet,
  person: Person,
  { project, document: sent }: { project: string; document: object },
): Promise<Response> {
  const headers = { ...browserOf(person), "content-type": "application/json" };
  const path = `/api/console/sboms?workspace=${person.workspace}&project=${project}`;
  return send(fleet, path, { method: "POST", headers, body: JSON.stringify(sent) });
}

function advisory(index: number) {
  const affected = Array.from({ length: packages }, (_, at) => ({
    package: { ecosystem: "npm", name: `package-${at}` },
    ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "9.0.0" }] }],
  }));
  return { id: `HOSTILE-${index}`, modified: "2026-01-01T00:00:00Z", affected };
}

function document(count: number) {
  const components = Array.from({ length: packages * count }, (_, index) => {
    const [name, version] = [`package-${index % packages}`, `1.0.${Math.floor(index / packages)}`];
    return { type: "library", name, version, purl: `pkg:npm/${name}@${version}` };
  });
  return { bomFormat: "CycloneDX", specVersion: "1.6", components };
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

function shown(all: readonly Asked[]): string {
  return all
    .map(({ name, times, statuses }) => {
      const [middle, high] = [quantile(times, 0.5), quantile(times, 0.99)].map((ms) => ms.toFixed(0));
      return `${name} ${middle}/${high} (${tallied(statuses)})`;
    })
    .join(", ");
}
