/** All sections of a run, in the order of the document. */
import type { Facts } from "../facts.ts";
import { agentSections } from "./agent.ts";
import { bodiesSections } from "./bodies.ts";
import { embeddingsSections } from "./embeddings.ts";
import { capacitySections } from "./capacity.ts";
import { catalogSections } from "./catalog.ts";
import { consoleSections } from "./console.ts";
import { featuresSections } from "./features.ts";
import { headlineSections } from "./headline.ts";
import { hotPathSections } from "./hot-path.ts";
import { microSections } from "./micro.ts";
import { peersSections } from "./peers.ts";
import { runSections } from "./run.ts";
import type { Section } from "./section.ts";
import { soakSections } from "./soak.ts";
import { streamsSections } from "./streams.ts";

export function sectionsOf(facts: Facts): Section[] {
  const { hotPath, peers, agent, bodies, embeddings, features, streams, soak, catalog, console, micro } = facts;
  return [
    ...runSections(facts),
    ...headlineSections(facts),
    ...(hotPath ? hotPathSections(hotPath) : []),
    ...(peers ? peersSections(peers) : []),
    ...(agent ? agentSections(agent) : []),
    ...(bodies ? bodiesSections(bodies) : []),
    ...(embeddings ? embeddingsSections(embeddings) : []),
    ...(features ? featuresSections(features) : []),
    ...(streams ? streamsSections(streams) : []),
    ...(soak ? soakSections(soak) : []),
    ...(catalog ? catalogSections(catalog) : []),
    ...(console ? consoleSections(console) : []),
    ...(micro ? microSections(micro) : []),
    ...capacitySections(facts),
  ];
}
