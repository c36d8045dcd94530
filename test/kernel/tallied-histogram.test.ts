/** A histogram that counts by itself shows what the library's histogram shows. */
import { expect, test } from "bun:test";
import { Histogram, Registry } from "prom-client";
import { TalliedHistogram } from "../../src/kernel/tallied-histogram.ts";

const named = { name: "seconds", help: "Some seconds", buckets: [0.005, 0.1, 1] };
const measured = [0, 0.005, 0.006, 0.1, 0.25, 1, 1.5, 900];

test.each([["provider"], [undefined]])(
  "a tallied histogram with the label %s shows what the library's own shows",
  async (label) => {
    const [ours, theirs] = [new Registry(), new Registry()];
    const tallied = new TalliedHistogram({ ...named, registers: [ours], ...(label !== undefined && { label }) });
    const labelNames = label === undefined ? [] : [label];
    const histogram = new Histogram({ ...named, registers: [theirs], labelNames });
    expect(await ours.metrics()).toBe(await theirs.metrics());
    for (const value of ["one", 'the "other"']) {
      for (const seconds of measured) {
        tallied.count(seconds, label === undefined ? "" : value);
        if (label === undefined) histogram.observe(seconds);
        else histogram.observe({ [label]: value }, seconds);
      }
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
    expect(await theirs.getMetricsAsJSON()).toMatchObject(await ours.getMetricsAsJSON());
  },
);
