/** Requests that never reach a provider, with every kind of refusal. */
import { send, type Canaries, type Place, type SentTraffic } from "./canaries.ts";

export async function refuseAll(canaries: Canaries, place: Place, sent: SentTraffic): Promise<void> {
  await refuseFields(canaries, place);
  await refuseMoney(canaries, place);
  await refuseBytes(canaries, place);
  await refuseKeys(canaries, place, sent);
}

async function refuseFields(canaries: Canaries, place: Place): Promise<void> {
  const { prompt } = canaries;
  const bodies: Record<string, unknown>[] = [
    { messages: [{ role: prompt, content: prompt }] },
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: prompt } }] }] },
    { temperature: prompt },
    { n: 2 },
    { messages: prompt },
    { [prompt]: prompt },
    { model: `nobody/${canaries.model}` },
  ];
  for (const body of bodies) await expectStatus([400, 404], send(canaries, place, { body }));
}

/** Too frequent, and without credit. */
async function refuseMoney(canaries: Canaries, place: Place): Promise<void> {
  for (const status of [200, 429]) {
    await expectStatus(
      [status],
      send(canaries, { ...place, key: place.hastyKey }, { body: { model: "sandbox/echo", stop: null, tools: [] } }),
    );
  }
  await expectStatus([402], send(canaries, { ...place, key: place.poorKey }));
}

async function refuseBytes({ prompt }: Canaries, { url, key }: Place): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const large = `{"messages": "${prompt}${"x".repeat(9_000_000)}`;
  for (const raw of [`{"messages": "${prompt}`, prompt, `["${prompt}"]`, large]) {
    await expectStatus([400, 413], fetch(`${url}/gpt/v1/chat/completions`, { method: "POST", headers, body: raw }));
  }
  const paths = [`/gpt/v1/${prompt}`, `/gpt/v1/models/${prompt}`, `/${prompt}?${prompt}`, `/api/console/${prompt}`];
  for (const path of paths) await expectStatus([401, 404], fetch(`${url}${path}`, { headers }));
  await expectStatus([405], fetch(`${url}/gpt/v1/chat/completions?${prompt}`, { method: "PUT", headers, body: prompt }));
}

async function refuseKeys(canaries: Canaries, place: Place, sent: SentTraffic): Promise<void> {
  for (const key of canaries.wrongKeys) {
    const headers = { authorization: `Bearer ${key}` };
    const asked = [
      send(canaries, { ...place, key }),
      fetch(`${place.url}/gpt/v1/key?api_key=${key}`, { headers }),
      fetch(`${place.url}/api/console/workspaces`, { headers }),
    ];
    for (const response of await Promise.all(asked)) {
      if (response.status !== 401) throw new Error(`A wrong key was answered with ${response.status}`);
      sent.errors += await response.text();
    }
  }
}

async function expectStatus(statuses: number[], request: Promise<Response>): Promise<void> {
  const response = await request;
  const { status } = response;
  await response.text();
  if (!statuses.includes(status)) throw new Error(`Answered with ${status} in place of ${statuses.join(" or ")}`);
}
