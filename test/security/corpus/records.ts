/** Advisories of ours about the packages of the corpus, and what they say of it. */
import type { Ecosystem } from "../../../src/security/versions/ecosystem.ts";
import type { OsvAffected } from "../../../src/security/versions/osv-range.ts";

export interface OwnRecord extends OsvAffected {
  id: string;
  package: { ecosystem: Ecosystem; name: string };
}

const before = (fixed: string, type = "ECOSYSTEM", introduced = "0") => ({ type, events: [{ introduced }, { fixed }] });
const upTo = (last: string) => ({ type: "SEMVER", events: [{ introduced: "0" }, { last_affected: last }] });

/** In the form of https://ossf.github.io/osv-schema/#affected-fields */
export const records: OwnRecord[] = [
  {
    id: "OWN-1",
    package: { ecosystem: "npm", name: "minimist" },
    ranges: [before("0.2.1", "SEMVER"), before("1.2.6", "SEMVER", "1.0.0")],
  },
  { id: "OWN-2", package: { ecosystem: "npm", name: "ms" }, ranges: [upTo("2.0.0")] },
  { id: "OWN-3", package: { ecosystem: "npm", name: "left-pad" }, versions: ["1.3.0"] },
  { id: "OWN-4", package: { ecosystem: "npm", name: "debug" }, ranges: [before("2.6.8", "SEMVER")] },
  { id: "OWN-5", package: { ecosystem: "PyPI", name: "Jinja2" }, ranges: [before("2.11.3")] },
  {
    id: "OWN-6",
    package: { ecosystem: "PyPI", name: "urllib3" },
    ranges: [before("1.26.19"), before("2.2.2", "ECOSYSTEM", "2.0.0")],
  },
  { id: "OWN-7", package: { ecosystem: "PyPI", name: "idna" }, ranges: [upTo("2.6")] },
  { id: "OWN-8", package: { ecosystem: "crates.io", name: "smallvec" }, ranges: [before("0.6.14", "SEMVER", "0.6.3")] },
  { id: "OWN-9", package: { ecosystem: "crates.io", name: "itoa" }, ranges: [before("1.0.0", "SEMVER")] },
  { id: "OWN-10", package: { ecosystem: "Go", name: "golang.org/x/text" }, ranges: [before("0.3.8", "SEMVER")] },
  {
    id: "OWN-11",
    package: { ecosystem: "Maven", name: "org.apache.logging.log4j:log4j-core" },
    ranges: [before("2.15.0", "ECOSYSTEM", "2.0-beta9")],
  },
  {
    id: "OWN-12",
    package: { ecosystem: "Maven", name: "org.apache.commons:commons-text" },
    ranges: [before("1.10.0", "ECOSYSTEM", "1.5")],
  },
  { id: "OWN-13", package: { ecosystem: "RubyGems", name: "nokogiri" }, ranges: [before("1.14.0.rc1")] },
  { id: "OWN-14", package: { ecosystem: "RubyGems", name: "rack" }, ranges: [before("2.2.22", "ECOSYSTEM", "2.2")] },
  { id: "OWN-15", package: { ecosystem: "Go", name: "stdlib" }, ranges: [before("1.99.0", "SEMVER", "1.26.0-0")] },
];

/** By hand, from the records and OSV's rules: https://ossf.github.io/osv-schema/#evaluation */
export const affected: Record<string, string> = {
  "npm minimist@0.0.8": "OWN-1",
  "npm minimist@1.2.5": "OWN-1",
  "npm ms@2.0.0": "OWN-2",
  "npm left-pad@1.3.0": "OWN-3",
  "PyPI jinja2@2.11.2": "OWN-5",
  "PyPI urllib3@1.26.18": "OWN-6",
  "crates.io smallvec@0.6.13": "OWN-8",
  "crates.io itoa@0.4.8": "OWN-9",
  "Go golang.org/x/text@v0.3.7": "OWN-10",
  "Go stdlib@go1.26.8": "OWN-15",
  "Maven org.apache.logging.log4j:log4j-core@2.14.1": "OWN-11",
  "Maven org.apache.commons:commons-text@1.9": "OWN-12",
  "RubyGems nokogiri@1.13.10": "OWN-13",
};
