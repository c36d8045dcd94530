/** Every scrape includes all ended answers and generations, however many ended since the last scrape. */
import { expect, test } from "bun:test";
import { countRequest, measureGeneration, registry } from "../../src/kernel/metrics.ts";

async function countOf(metric: string, provider: string): Promise<number> {
  const line = new RegExp(`^${metric}_count\\{provider="${provider}"\\} (\\d+)$`, "m");
  return Number(line.exec(await registry.metrics())?.[1] ?? 0);
}

test.each([1, 999, 1_000, 2_001])("the metrics count each of %i generations once", async (many) => {
  const provider = `one of ${many}`;
  for (let end = 0; end < many; end++) measureGeneration({ provider, durationMs: 20, firstTokenMs: end === 0 ? null : 10 });
  expect(await countOf("weir_generation_seconds", provider)).toBe(many);
  expect(await countOf("weir_generation_seconds", provider)).toBe(many);
  expect(await countOf("weir_first_token_seconds", provider)).toBe(many - 1);
});

test("the metrics count answers by status and code, from one scrape to the next", async () => {
  const counted = async (status: number): Promise<number> => {
    const line = new RegExp(`^weir_requests_total\\{status="${status}",code="counted"\\} (\\d+)$`, "m");
    return Number(line.exec(await registry.metrics())?.[1] ?? 0);
  };
  for (const status of [218, 218, 418]) countRequest(status, "counted");
  expect([await counted(218), await counted(418)]).toEqual([2, 1]);
  countRequest(218, "counted");
  expect([await counted(218), await counted(418)]).toEqual([3, 1]);
});
