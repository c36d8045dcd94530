/** Every scrape includes all ended answers, decisions and generations, however many ended since the last scrape. */
import { expect, test } from "bun:test";
import { errorTable } from "../../src/kernel/errors.ts";
import { alarms, countRequest, measureAdmission, measureGeneration, observe, registry } from "../../src/kernel/metrics.ts";

/** @param series its name and labels as they are shown; undefined: it is not shown */
async function shown(series: string): Promise<number | undefined> {
  const line = (await registry.metrics()).split("\n").find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length));
}

test.each([1, 999, 1_000, 2_001])("the metrics count each of %i generations once", async (many) => {
  const provider = `one of ${many}`;
  for (let end = 0; end < many; end++) {
    const [code, firstTokenMs] = end === 0 ? ["upstream_error", null] : [null, 10];
    measureGeneration({ provider, code, durationMs: 20, firstTokenMs });
  }
  expect(await shown(`weir_generation_seconds_count{provider="${provider}"}`)).toBe(many);
  expect(await shown(`weir_generation_seconds_count{provider="${provider}"}`)).toBe(many);
  expect((await shown(`weir_first_token_seconds_count{provider="${provider}"}`)) ?? 0).toBe(many - 1);
  expect(await shown(`weir_generations_total{provider="${provider}",code="upstream_error"}`)).toBe(1);
  expect((await shown(`weir_generations_total{provider="${provider}",code="none"}`)) ?? 0).toBe(many - 1);
});

test("the metrics count answers by status and code, from one scrape to the next", async () => {
  const counted = async (status: number) => await shown(`weir_requests_total{status="${status}",code="counted"}`);
  for (const status of [218, 218, 418]) countRequest(status, "counted");
  expect([await counted(218), await counted(418)]).toEqual([2, 1]);
  countRequest(218, "counted");
  expect([await counted(218), await counted(418)]).toEqual([3, 1]);
});

test("the metrics count each decision of admission by its outcome, and its time", async () => {
  const before = (await shown("weir_admission_seconds_count")) ?? 0;
  for (let decision = 0; decision < 1_500; decision++) measureAdmission({ outcome: "admitted in a test", ms: 3 });
  measureAdmission({ outcome: "refused in a test", ms: 300 });
  expect(await shown('weir_admissions_total{outcome="admitted in a test"}')).toBe(1_500);
  expect(await shown('weir_admissions_total{outcome="refused in a test"}')).toBe(1);
  expect(await shown("weir_admission_seconds_count")).toBe(before + 1_501);
});

test("known errors and alarms are shown from zero, so that the first one is an increase", async () => {
  const lines = (await registry.metrics()).split("\n");
  const series = [
    ...Object.entries(errorTable).map(([code, { status }]) => `weir_requests_total{status="${status}",code="${code}"} `),
    ...alarms.map((alarm) => `weir_alarms_total{alarm="${alarm}"} `),
  ];
  expect(series.filter((one) => !lines.some((line) => line.startsWith(one)))).toEqual([]);
});

test("a gauge shows what its part reads at the scrape, and drops values that are gone", async () => {
  let reading: Record<string, number> = { one: 1, other: 2 };
  observe("weir_dependency_up", async () => reading);
  expect(await shown('weir_dependency_up{dependency="other"}')).toBe(2);
  reading = { one: 3 };
  expect(await shown('weir_dependency_up{dependency="one"}')).toBe(3);
  expect(await shown('weir_dependency_up{dependency="other"}')).toBeUndefined();
});
