/** The section about the capacity model, and the growth of the database per request. */
import { chainText, checkTable, fit, sizesTable, stagesTable } from "../../capacity/report.ts";
import type { Facts } from "../facts.ts";
import { shown } from "../table.ts";
import type { Section } from "./section.ts";

export function capacitySections({ fleet, hotPath, soak, machine }: Facts): Section[] {
  const fitted = fleet && fit(fleet, machine.cores);
  if (!fitted) return [];
  const stored = soak?.stored;
  const gigabytes = (bytes: number) => shown((bytes * 1_000_000) / 1e9);
  const kept = stored && [
    `A million requests leave ${gigabytes(stored.databaseBytes)} GB in the database and ${gigabytes(stored.logBytes)} GB in its write-ahead log.`,
  ];
  const chain = hotPath ? [chainText(hotPath)] : [];
  const text = [stagesTable(fitted), checkTable(fitted), sizesTable(fitted, null), ...chain, ...(kept ?? [])].join("\n\n");
  return [{ name: "capacity", title: "Capacity", text, plots: [] }];
}
