/** The sections about the capacity model, and about sharing out Redis and metering. */
import { chainText, checkTable, fit, stagesTable } from "../../capacity/report.ts";
import { hotTexts } from "../../capacity/hot-report.ts";
import { sharedOutTexts } from "../../capacity/shared-out-report.ts";
import { sizesTable } from "../../capacity/sizes-report.ts";
import type { Facts } from "../facts.ts";
import { shown } from "../table.ts";
import type { Section } from "./section.ts";

export function capacitySections(facts: Facts): Section[] {
  const texts = sharedOutTexts(facts);
  const sharedOut = {
    name: "shared-out",
    title: "Several masters of Redis, several metering processes",
    text: texts.join("\n\n"),
    plots: [],
  };
  return [...modelSections(facts), ...(texts.length > 0 ? [sharedOut] : [])];
}

function modelSections(facts: Facts): Section[] {
  const fitted = fit(facts);
  if (!fitted) return [];
  const { hotPath, soak } = facts;
  const hot = hotTexts(facts);
  const stored = soak?.stored;
  const gigabytes = (bytes: number) => shown((bytes * 1_000_000) / 1e9);
  const kept = stored && [
    `A million requests leave ${gigabytes(stored.databaseBytes)} GB in the database and ${gigabytes(stored.logBytes)} GB in its write-ahead log.`,
  ];
  const chain = hotPath ? [chainText(hotPath)] : [];
  const text = [stagesTable(fitted), checkTable(fitted), sizesTable(fitted), ...hot, ...chain, ...(kept ?? [])].join("\n\n");
  return [{ name: "capacity", title: "Capacity", text, plots: [] }];
}
