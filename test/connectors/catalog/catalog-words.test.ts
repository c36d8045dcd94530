/**
 * What people type finds the vendor that they mean, first. The words are those of a review of the catalog's first search, and
 * names that vendors' own documents use.
 */
import { describe, expect, test } from "bun:test";
import { judgeSearchWords, catalogOf } from "../../../src/connectors/catalog/files/judge.ts";
import { readConnectorFiles } from "../../../src/connectors/catalog/files/read-file.ts";
import { knowledgeOf, searchTermsOf } from "../../../src/connectors/catalog/search-terms.ts";
import { search } from "../../../src/connectors/catalog/search.ts";

const files = await readConnectorFiles(new URL("../../../catalog-data", import.meta.url).pathname);
const catalog = catalogOf(files);
const { words, problems } = judgeSearchWords(files.searchWords, catalog);
const terms = searchTermsOf(catalog.connectors, knowledgeOf(catalog, words));
const idsOf = (q: string): string[] => search(q, terms).connectors.map(({ id }) => id);

/** Typed words and the connector that they mean. */
const meant: readonly [typed: string, id: string][] = [
  // From a review of the search: what failed, and the vendors that it names.
  ["aws", "amazon-web-services"],
  ["gcp", "google-cloud-platform"],
  ["azure ad", "microsoft-entra-id"],
  ["gsuite", "google-workspace"],
  ["office 365", "microsoft-365"],
  ["k8s", "kubernetes"],
  ["postgres", "neon"],
  ["sso", "okta"],
  ["hris", "bamboohr"],
  ["oktaa", "okta"],
  ["gthub", "github"],
  ["entra", "microsoft-entra-id"],
  ["Amazon Web Services", "amazon-web-services"],
  ["AWS Security Hub", "aws-security-hub"],
  ["Microsoft Entra ID", "microsoft-entra-id"],
  ["ManageEngine Endpoint Central", "manageengine-endpoint-central"],
  ["Vanta", "vanta"],
  ["Drata", "drata"],
  ["Airbyte", "airbyte"],
  ["Langfuse", "langfuse"],
  ["Grafana", "grafana-cloud"],
  ["Prometheus", "grafana-cloud"],
  ["Slack", "slack"],
  ["GitHub", "github"],
  ["Docker", "docker-hub"],
  ["Kubernetes", "kubernetes"],
  ["PostgreSQL", "neon"],
  ["Redis", "redis-cloud"],
  ["npm", "npm"],
  ["OpenAI", "openai"],
  ["Anthropic", "anthropic"],
  // Abbreviations.
  ["o365", "microsoft-365"],
  ["m365", "microsoft-365"],
  ["aad", "microsoft-entra-id"],
  ["mde", "microsoft-defender-for-endpoint"],
  ["s1", "sentinelone"],
  ["jsm", "jira-service-management"],
  ["ghes", "github-enterprise-server"],
  ["ghec", "github-enterprise-cloud"],
  ["gke", "google-kubernetes-engine"],
  ["gcs", "google-cloud-storage"],
  ["oci", "oracle-cloud-infrastructure"],
  ["sfdc", "salesforce"],
  ["zia", "zscaler-internet-access"],
  ["zpa", "zscaler-private-access"],
  ["ad", "microsoft-active-directory"],
  ["ws1", "workspace-one-uem"],
  ["fmc", "cisco-secure-firewall-management-center"],
  ["abm", "apple-business-manager"],
  ["tfc", "hcp-terraform"],
  // Names of products, and parts of them.
  ["crowdstrike falcon", "crowdstrike-falcon"],
  ["falcon", "crowdstrike-falcon"],
  ["duo", "cisco-duo"],
  ["umbrella", "cisco-umbrella"],
  ["intune", "microsoft-intune"],
  ["defender", "microsoft-defender-for-endpoint"],
  ["vault", "hashicorp-vault"],
  ["terraform", "hcp-terraform"],
  ["bob", "hibob"],
  ["chatgpt", "openai"],
  ["claude", "anthropic"],
  ["elasticsearch", "elastic-cloud"],
  ["kafka", "confluent-cloud"],
  ["power bi", "power-bi"],
  ["azure", "microsoft-azure"],
  ["google", "google-workspace"],
  ["git", "github"],
  // Former names.
  ["g suite", "google-workspace"],
  ["kandji", "iru"],
  ["netsparker", "invicti"],
  ["whitesource", "mend-io"],
  ["mobileiron", "ivanti-neurons-for-mdm"],
  ["sendinblue", "brevo"],
  ["tripactions", "navan"],
  ["ultipro", "ukg-pro"],
  ["mcafee", "trellix"],
  ["demisto", "cortex-xsoar"],
  ["bitbucket server", "bitbucket-data-center"],
  ["vsts", "azure-devops"],
  // Spelled otherwise.
  ["service now", "servicenow"],
  ["work day", "workday"],
  ["one login", "onelogin"],
  ["docu sign", "docusign"],
  ["data dog", "datadog"],
  ["monday.com", "monday-com"],
  ["microsft teams", "microsoft-teams"],
  ["slak", "slack"],
  ["jria", "jira"],
];

test("each word finds the connector that it means, first", () => {
  expect(meant.length).toBeGreaterThanOrEqual(60);
  expect(new Set(meant.map(([typed]) => typed)).size).toBe(meant.length);
  expect(meant.map(([typed]) => [typed, idsOf(typed)[0]])).toEqual(meant.map(([typed, id]) => [typed, id]));
});

test("every connector is found by its name, and is above those that only share words with it", () => {
  const first = catalog.connectors.map(({ name }) => search(name, terms).connectors[0]?.name);
  expect(first).toEqual(catalog.connectors.map(({ name }) => name));
});

test("every former and other name that the files know finds its connector", () => {
  const known = [
    ...catalog.connectors.flatMap(({ id, aka = [] }) => aka.map((name) => ({ id, name }))),
    ...words.connectors.flatMap(({ connector: id, words }) => words.map((name) => ({ id, name }))),
  ];
  expect(known.filter(({ id, name }) => !idsOf(name).slice(0, 3).includes(id))).toEqual([]);
});

test.each([
  ["Identity & SSO", "Identity & SSO"],
  ["edr", "Endpoint Detection & Response"],
  ["payroll", "HRIS"],
  ["siem", "Security Automation"],
  ["e-signature", "Digital Signature"],
  ["single sign-on", "Identity & SSO"],
])("the word %s finds the connectors of %s", (typed, category) => {
  const found = new Set(idsOf(typed));
  const own = catalog.connectors.filter((one) => one.category === category);
  expect(own.filter(({ id }) => !found.has(id)).map(({ name }) => name)).toEqual([]);
});

test("a way to connect finds the connectors that have it", () => {
  const own = catalog.connectors.filter(({ methods }) => methods.includes("mcp"));
  expect(idsOf("mcp")).toEqual(expect.arrayContaining(own.map(({ id }) => id)));
});

describe("the words of the search", () => {
  test("are those of at least 200 vendors, and each row names a page that states them", () => {
    expect(problems).toEqual([]);
    const vendors = new Set(words.connectors.map((row) => catalog.connectors.find(({ id }) => id === row.connector)?.id));
    expect(vendors.size).toBeGreaterThanOrEqual(200);
    expect(words.connectors.filter(({ source }) => !URL.canParse(source))).toEqual([]);
  });

  test("name every category", () => {
    expect(words.categories.map(({ category }) => category)).toEqual([...catalog.categories]);
  });
});
