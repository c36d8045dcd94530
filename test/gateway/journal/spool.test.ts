import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { encodeSettlement, type Settlement } from "../../../src/gateway/journal/settlement.ts";
import { recoveredFrom, type Recovered } from "../../../src/gateway/journal/recovery.ts";
import { Spool } from "../../../src/gateway/journal/spool.ts";
import { decodeSpoolLine, type GenerationIntent } from "../../../src/gateway/journal/spool-line.ts";
import { rateWindowMs } from "../../../src/backing/limits.ts";
import { spoolSegmentBytesMax } from "../../../src/gateway/limits.ts";
import { ManualClock } from "../../support/clock.ts";
import { failureOf } from "../../support/failure-of.ts";
import { canFillDisk, withDiskFullAt } from "../../support/processes/full-disk.ts";
import { intent } from "../../support/gateway/intents.ts";
import { settlement } from "../../support/gateway/settlements.ts";
import { temporaryFolder, type TemporaryFolder } from "../../support/temporary-folder.ts";

let folder: TemporaryFolder;
let clock: ManualClock;
beforeEach(async () => {
  folder = await temporaryFolder();
  clock = new ManualClock();
});
afterEach(() => folder[Symbol.asyncDispose]());

const open = () => new Spool(folder.path, clock);
const segments = () => readdirSync(folder.path).toSorted();
const ids = (list: readonly { generation: string }[]) => list.map(({ generation }) => generation);
const interruptedIds = ({ interrupted }: Recovered) => ids(interrupted.map((generation) => generation.intent));

function endOf(begun: GenerationIntent, fields: Partial<Settlement> = {}): Settlement {
  const { generation, workspace, key, admittedAt } = begun;
  return settlement({ generation, workspace, key, admittedAt, ...fields });
}

/** What a successor would find now, without one that begins a segment of its own. */
function found(): Recovered {
  const texts = segments().flatMap((name) => readFileSync(join(folder.path, name), "utf8").split("\n"));
  return recoveredFrom(texts.flatMap((text) => decodeSpoolLine(text) ?? []));
}

/** Writes an intent without waiting for the end of the turn. */
function begin(spool: Spool, begun: GenerationIntent): void {
  void spool.writeIntent(begun);
  spool.flush();
}

function write(spool: Spool, ended: Settlement): void {
  void spool.writeSettlement(ended.generation, encodeSettlement(ended));
  spool.flush();
}

/** Begins and ends generations until the current segment is full. */
function fillSegment(spool: Spool): GenerationIntent[] {
  const before = segments().length;
  const begun: GenerationIntent[] = [];
  while (segments().length === before) {
    const next = intent({ model: "m".repeat(200) });
    begin(spool, next);
    write(spool, endOf(next, { model: "m".repeat(60_000) }));
    begun.push(next);
  }
  return begun;
}

describe("a spool", () => {
  test("the spool writes the lines of one turn of the event loop with one call, and its promises resolve after that", async () => {
    const spool = open();
    const begun = [intent(), intent(), intent()];
    const written = begun.map((one) => spool.writeIntent(one));
    expect(open().takeRecovered().intents).toEqual([]);
    await written[0];
    expect(ids(open().takeRecovered().intents)).toEqual(ids(begun));
  });

  test("the next owner gets all lines, sorted into settled, interrupted and pending", () => {
    const first = open();
    const [settled, interrupted, refused] = [intent(), intent(), intent()];
    first.writeAdmissions(
      [settled, interrupted, refused].map(({ workspace, generation }) => ({ workspace, generation })),
      [],
    );
    begin(first, settled);
    begin(first, interrupted);
    const ended = endOf(settled);
    write(first, ended);

    // No dispose: its owner was killed.
    expect(open().takeRecovered()).toEqual({
      settlements: [ended],
      interrupted: [{ intent: interrupted, sent: true, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0 }],
      intents: [settled, interrupted],
      ended: new Set(),
      pendingAdmissions: [{ workspace: "ws-1", generation: refused.generation }],
      blocks: [],
      closed: false,
    });
  });

  test("the spool returns the recovered content once", () => {
    begin(open(), intent());
    const second = open();
    expect(second.takeRecovered().interrupted.length).toBe(1);
    expect(second.takeRecovered()).toEqual({
      settlements: [],
      interrupted: [],
      intents: [],
      ended: new Set(),
      pendingAdmissions: [],
      blocks: [],
      closed: false,
    });
  });

  test("the spool skips a truncated last line and keeps all lines before it", () => {
    const begun = intent();
    begin(open(), begun);
    const [name = ""] = segments();
    const whole = readFileSync(join(folder.path, name));
    const line = encodeSettlement(endOf(begun));
    for (const length of [1, 17, line.length - 1]) {
      writeFileSync(join(folder.path, name), whole);
      appendFileSync(join(folder.path, name), `{"kind":"settlement","settlement":${line}`.slice(0, length));
      expect(interruptedIds(open().takeRecovered())).toEqual([begun.generation]);
    }
  });

  test("the spool ignores lines that are not its own", () => {
    begin(open(), intent());
    const [name = ""] = segments();
    for (const line of ["null", "[]", '{"kind":"intent","intent":{"generation":5}}', '{"kind":"other"}', "\u0000\u0000"])
      appendFileSync(join(folder.path, name), `${line}\n`);
    expect(open().takeRecovered().interrupted.length).toBe(1);
  });

  test("the spool does not touch other files of its folder", () => {
    writeFileSync(join(folder.path, "notes.txt"), "mine");
    const spool = open();
    clock.advance(10 * rateWindowMs);
    spool.confirm([]);
    expect(segments()).toContain("notes.txt");
  });

  test("the spool never writes into a segment of an earlier owner", () => {
    begin(open(), intent());
    begin(open(), intent());
    expect(segments()).toEqual(["0000000001.jsonl", "0000000002.jsonl"]);
    expect(open().takeRecovered().interrupted.length).toBe(2);
  });
});

describe("the segments of a spool", () => {
  test("a segment ends at 1 MiB, and is deleted when all its generations are confirmed and a minute has passed", () => {
    const spool = open();
    const begun = fillSegment(spool);
    expect(segments()).toEqual(["0000000001.jsonl", "0000000002.jsonl"]);
    expect(readFileSync(join(folder.path, "0000000001.jsonl")).length).toBeGreaterThanOrEqual(spoolSegmentBytesMax);
    const [last, ...others] = ids(begun).toReversed();
    clock.advance(rateWindowMs);
    spool.confirm(others);
    expect(segments().length).toBe(2);
    spool.confirm([last ?? ""]);
    expect(segments()).toEqual(["0000000002.jsonl"]);
  });

  test("a segment is kept for a minute after its last line, since the rate window is rebuilt from it", () => {
    const spool = open();
    const begun = fillSegment(spool);
    spool.confirm(ids(begun));
    clock.advance(rateWindowMs - 1);
    spool.confirm([]);
    expect(segments().length).toBe(2);
    clock.advance(1);
    spool.confirm([]);
    expect(segments()).toEqual(["0000000002.jsonl"]);
  });

  test("segments of an earlier owner are deleted by the same rule", () => {
    const begun = intent();
    begin(open(), begun);
    const second = open();
    clock.advance(rateWindowMs);
    second.confirm([]);
    expect(segments().length).toBe(2);
    second.confirm([begun.generation]);
    expect(segments()).toEqual(["0000000002.jsonl"]);
  });

  test("each segment is deleted by itself: a long answer keeps only its own segment", () => {
    const spool = open();
    const long = intent();
    begin(spool, long);
    const others = [fillSegment(spool), fillSegment(spool), fillSegment(spool)].flat();
    clock.advance(rateWindowMs);
    spool.confirm(ids(others));
    expect(segments()).toEqual(["0000000001.jsonl", "0000000004.jsonl"]);
    expect(interruptedIds(open().takeRecovered())).toContain(long.generation);
  });
});

describe("a generation that ended in another segment than it began in", () => {
  /** The first segment stays because of `long`. The second one, with the end of `crossing`, may go after a minute. */
  function spoolWithBoth(crossing = intent()): { spool: Spool; long: GenerationIntent; crossing: GenerationIntent } {
    const spool = open();
    const long = intent();
    begin(spool, long);
    begin(spool, crossing);
    const filled = fillSegment(spool);
    write(spool, endOf(crossing));
    spool.confirm(ids([crossing, ...filled, ...fillSegment(spool)]));
    return { spool, long, crossing };
  }

  test("a successor does not end it again where only its intent is left, and still counts its admission", () => {
    const { spool, long, crossing } = spoolWithBoth();
    expect(ids(found().settlements)).toContain(crossing.generation);
    clock.advance(rateWindowMs);
    spool.confirm([]);
    expect(segments()).toEqual(["0000000001.jsonl", "0000000003.jsonl"]);
    const recovered = open().takeRecovered();
    expect(interruptedIds(recovered)).toEqual([long.generation]);
    expect([...recovered.ended]).toEqual([crossing.generation]);
    expect(ids(recovered.settlements)).not.toContain(crossing.generation);
    expect(ids(recovered.intents)).toContain(crossing.generation);
  });

  test("its end is noted again in each segment that takes the place of the one with the note", () => {
    const { spool, long, crossing } = spoolWithBoth();
    clock.advance(rateWindowMs);
    spool.confirm([]);
    const more = fillSegment(spool);
    clock.advance(rateWindowMs);
    spool.confirm(ids(more));
    expect(segments()).toEqual(["0000000001.jsonl", "0000000004.jsonl"]);
    expect([...found().ended]).toEqual([crossing.generation]);
    // Its owner dies. The successor ends what was open, and keeps the first segment until the ledger has that.
    const successor = open();
    write(successor, endOf(long));
    clock.advance(rateWindowMs);
    successor.confirm([]);
    expect(segments()).toEqual(["0000000001.jsonl", "0000000005.jsonl"]);
    expect([...found().ended]).toEqual([crossing.generation]);
    expect(interruptedIds(found())).toEqual([]);
    successor.confirm(ids(found().settlements));
    expect(segments()).toEqual(["0000000005.jsonl"]);
  });

  test("nothing is noted for an intent that is deleted, too", () => {
    const { spool, long } = spoolWithBoth();
    write(spool, endOf(long));
    spool.confirm([long.generation]);
    clock.advance(rateWindowMs);
    spool.confirm([]);
    expect(segments()).toEqual(["0000000003.jsonl"]);
    expect(readFileSync(join(folder.path, "0000000003.jsonl"), "utf8")).not.toContain('"ended"');
  });

  test("its block no longer holds what it reserved, and its time still counts", () => {
    const crossing = intent({ block: "gen-block", amount: "300" });
    const { spool } = spoolWithBoth(crossing);
    const blockOf = () => found().blocks.map(({ block, reserved, times }) => ({ block, reserved, times }));
    expect(blockOf()).toEqual([{ block: "gen-block", reserved: 300n, times: [crossing.admittedAt] }]);
    clock.advance(rateWindowMs);
    spool.confirm([]);
    expect(blockOf()).toEqual([{ block: "gen-block", reserved: 0n, times: [crossing.admittedAt] }]);
  });

  test.skipIf(!canFillDisk)("its segment stays while the note cannot be written", () => {
    const { spool, long } = spoolWithBoth();
    clock.advance(rateWindowMs);
    withDiskFullAt(0, () => spool.confirm([]));
    expect(segments()).toEqual(["0000000001.jsonl", "0000000002.jsonl", "0000000003.jsonl"]);
    expect(interruptedIds(found())).toEqual([long.generation]);
    spool.confirm([]);
    expect(segments()).toEqual(["0000000001.jsonl", "0000000003.jsonl"]);
    expect(interruptedIds(found())).toEqual([long.generation]);
  });

  test.skipIf(!canFillDisk)("what was left out is noted as well, even if the ledger had it before it was written", async () => {
    const spool = open();
    const [long, late] = [intent(), intent()];
    begin(spool, long);
    begin(spool, late);
    const filled = fillSegment(spool);
    const refused = failureOf(spool.writeSettlement(late.generation, encodeSettlement(endOf(late))));
    withDiskFullAt(0, () => spool.flush());
    await refused;
    spool.confirm([late.generation]);
    spool.probe();
    spool.confirm(ids([...filled, ...fillSegment(spool)]));
    clock.advance(rateWindowMs);
    spool.confirm([]);
    expect(segments()).toEqual(["0000000001.jsonl", "0000000003.jsonl"]);
    expect(interruptedIds(found())).toEqual([long.generation]);
    expect([...found().ended]).toEqual([late.generation]);
  });
});

describe("a closed spool", () => {
  test("the spool refuses to write, since its descriptor may belong to another file", async () => {
    const spool = open();
    spool[Symbol.dispose]();
    expect(String(await failureOf(spool.writeIntent(intent())))).toContain("it is closed");
    expect(() => spool[Symbol.dispose]()).not.toThrow();
  });
});

describe.skipIf(!canFillDisk)("a spool on a full disk", () => {
  test("the spool refuses intents and reports that it does not work, until a write succeeds", async () => {
    const spool = open();
    const refused = failureOf(spool.writeIntent(intent()));
    withDiskFullAt(0, () => {
      spool.flush();
      expect(spool.working).toBe(false);
      spool.probe();
      expect(spool.working).toBe(false);
    });
    expect(await refused).toBeInstanceOf(Error);
    spool.probe();
    expect(spool.working).toBe(true);
  });

  test("the spool loses only the lines that did not fit, and removes what it wrote of them", async () => {
    const spool = open();
    const [before, lost, after] = [intent(), intent(), intent()];
    begin(spool, before);
    const fits = readFileSync(join(folder.path, "0000000001.jsonl")).length;
    const refused = [failureOf(spool.writeIntent(lost)), failureOf(spool.writeIntent(intent()))];
    withDiskFullAt(fits * 2 + 50, () => spool.flush());
    for (const refusal of refused) expect(await refusal).toBeInstanceOf(Error);
    write(spool, endOf(after));
    const recovered = open().takeRecovered();
    expect(interruptedIds(recovered)).toEqual([before.generation]);
    expect(ids(recovered.settlements)).toEqual([after.generation]);
  });

  test("the first write that succeeds has the settlements that were left out, even those that the ledger has by then", async () => {
    const spool = open();
    const [booked, waiting] = [intent(), intent()];
    begin(spool, booked);
    begin(spool, waiting);
    const ends = [endOf(booked), endOf(waiting)];
    const refused = ends.map((ended) => failureOf(spool.writeSettlement(ended.generation, encodeSettlement(ended))));
    withDiskFullAt(0, () => spool.flush());
    for (const refusal of refused) expect(await refusal).toBeInstanceOf(Error);
    spool.confirm([booked.generation]);
    expect(interruptedIds(open().takeRecovered())).toEqual(ids(ends));
    spool.probe();
    const recovered = open().takeRecovered();
    expect(recovered.settlements).toEqual(ends);
    expect(recovered.interrupted).toEqual([]);
  });

  test("what was left out keeps its segment until the ledger has it, and not longer", async () => {
    const spool = open();
    const [booked, waiting] = [intent(), intent()];
    begin(spool, booked);
    begin(spool, waiting);
    const others = fillSegment(spool);
    const refused = [booked, waiting].map((one) =>
      failureOf(spool.writeSettlement(one.generation, encodeSettlement(endOf(one)))),
    );
    withDiskFullAt(0, () => spool.flush());
    await Promise.all(refused);
    spool.confirm([booked.generation]);
    const more = fillSegment(spool);
    clock.advance(rateWindowMs);
    spool.confirm(ids([...others, ...more]));
    expect(segments()).toEqual(["0000000001.jsonl", "0000000002.jsonl", "0000000003.jsonl"]);
    spool.confirm([waiting.generation]);
    expect(segments()).toEqual(["0000000003.jsonl"]);
  });

  test("a spool that is closed when there is room again has what was left out", async () => {
    const spool = open();
    const begun = intent();
    begin(spool, begun);
    const refused = failureOf(spool.writeSettlement(begun.generation, encodeSettlement(endOf(begun))));
    withDiskFullAt(0, () => spool.flush());
    await refused;
    spool[Symbol.dispose]();
    expect(ids(open().takeRecovered().settlements)).toEqual([begun.generation]);
  });
});
