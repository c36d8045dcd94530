/**
 * VEX documents of the libraries that write them: vexctl is built on go-vex and cannot be had from Go's proxy. Each says the same four
 * things about the findings of `npm-shop`, in the words of its format. govulncheck says by itself what its analysis found.
 */
import type { Project } from "./projects.ts";
import type { Recipe } from "./recipe.ts";

const lib4vex = `import sys
from lib4vex.generator import VEXGenerator

form = sys.argv[1]
states = {
    "cyclonedx": ["not_affected", "exploitable", "in_triage", "resolved"],
    "openvex": ["not_affected", "affected", "under_investigation", "fixed"],
    "csaf": ["known_not_affected", "known_affected", "under_investigation", "fixed"],
}[form]
reason = "code_not_reachable" if form == "cyclonedx" else "vulnerable_code_not_in_execute_path"
flaws = [("OWN-1", "minimist", "1.2.5"), ("OWN-2", "ms", "2.0.0"), ("OWN-3", "left-pad", "1.3.0"), ("OWN-1", "minimist", "0.0.8")]
found = []
for (id, name, version), state in zip(flaws, states):
    flaw = {"id": id, "product": name, "release": version, "purl": f"pkg:npm/{name}@{version}", "vendor": "npm"}
    flaw |= {"status": state, "description": f"A flaw of {name}", "created": "2026-01-01T00:00:00Z"}
    flaw |= {"justification": reason} if "not_affected" in state else {"comment": "Update it"}
    found.append(flaw)
made = VEXGenerator(vex_type=form, author="Shop")
made.set_product("shop", "1.0.0", sbom="bom.json")
publisher = {"author": "Shop", "author_url": "https://example.com", "status": "final"}
supplier = {"supplier": "Shop", "supplier_url": "https://example.com"}
metadata = {"id": "SHOP-1", "title": "Shop", **(publisher if form == "csaf" else supplier)}
made.generate(project_name="shop", vex_data=found, metadata=metadata, filename="vex.json")
`;

const pythonLib = `import sys
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.impact_analysis import ImpactAnalysisJustification, ImpactAnalysisResponse, ImpactAnalysisState
from cyclonedx.model.vulnerability import BomTarget, Vulnerability, VulnerabilityAnalysis
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

bom = Bom()
bom.metadata.component = Component(type=ComponentType.APPLICATION, name="shop", version="1.0.0", bom_ref="shop")
State = ImpactAnalysisState
flaws = [
    ("OWN-1", "minimist", "1.2.5", dict(state=State.NOT_AFFECTED, justification=ImpactAnalysisJustification.CODE_NOT_REACHABLE)),
    ("OWN-2", "ms", "2.0.0", dict(state=State.EXPLOITABLE, responses=[ImpactAnalysisResponse.UPDATE], detail="Update it")),
    ("OWN-3", "left-pad", "1.3.0", dict(state=State.IN_TRIAGE)),
    ("OWN-1", "minimist", "0.0.8", dict(state=State.RESOLVED)),
]
for id, name, version, analysis in flaws:
    component = Component(name=name, version=version, purl=PackageURL("npm", None, name, version), bom_ref=f"{name}-{version}")
    bom.components.add(component)
    target = BomTarget(ref=component.bom_ref.value)
    bom.vulnerabilities.add(Vulnerability(id=id, affects=[target], analysis=VulnerabilityAnalysis(**analysis)))
schema = SchemaVersion.from_version(sys.argv[1])
make_outputter(bom, OutputFormat.JSON, schema).output_to_file("vex.json", True, indent=2)
`;

const goVex = `package main

import (
	"os"
	"time"

	"github.com/openvex/go-vex/pkg/vex"
)

func main() {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	doc := vex.New()
	doc.ID, doc.Author, doc.Timestamp = "https://example.com/vex/shop-1", "Shop", &at
	products := func(purl string) []vex.Product {
		if len(os.Args) > 1 {
			shop := vex.Component{ID: "pkg:npm/shop@1.0.0"}
			return []vex.Product{{Component: shop, Subcomponents: []vex.Subcomponent{{Component: vex.Component{ID: purl}}}}}
		}
		return []vex.Product{{Component: vex.Component{ID: purl, Identifiers: map[vex.IdentifierType]string{vex.PURL: purl}}}}
	}
	flaw := func(id string) vex.Vulnerability { return vex.Vulnerability{Name: vex.VulnerabilityID(id)} }
	doc.Statements = []vex.Statement{
		{Vulnerability: flaw("OWN-1"), Products: products("pkg:npm/minimist@1.2.5"), Status: vex.StatusNotAffected, Justification: vex.VulnerableCodeNotInExecutePath},
		{Vulnerability: flaw("OWN-2"), Products: products("pkg:npm/ms@2.0.0"), Status: vex.StatusAffected, ActionStatement: "Update it"},
		{Vulnerability: flaw("OWN-3"), Products: products("pkg:npm/left-pad@1.3.0"), Status: vex.StatusUnderInvestigation},
		{Vulnerability: flaw("OWN-1"), Products: products("pkg:npm/minimist@0.0.8"), Status: vex.StatusFixed},
	}
	for i := range doc.Statements {
		if err := doc.Statements[i].Validate(); err != nil {
			panic(err)
		}
	}
	if err := doc.ToJSON(os.Stdout); err != nil {
		panic(err)
	}
}
`;

/** Of https://go.dev/doc/security/vuln/database, in which the flaw is of a function that the shop does not call. */
const goFlaw = {
  schema_version: "1.3.1",
  id: "GO-2026-0010",
  modified: "2026-01-01T00:00:00Z",
  published: "2026-01-01T00:00:00Z",
  aliases: ["OWN-10"],
  summary: "A flaw of golang.org/x/text",
  details: "A flaw of golang.org/x/text",
  affected: [
    {
      package: { name: "golang.org/x/text", ecosystem: "Go" },
      ranges: [{ type: "SEMVER", events: [{ introduced: "0" }, { fixed: "0.3.8" }] }],
      ecosystem_specific: { imports: [{ path: "golang.org/x/text/language", symbols: ["ParseAcceptLanguage"] }] },
    },
  ],
  database_specific: { url: "https://pkg.go.dev/vuln/GO-2026-0010", review_status: "REVIEWED" },
};
const { id, modified, aliases } = goFlaw;

export const vexWriters: Project = { "lib.py": lib4vex, "bom.py": pythonLib, "vex/main.go": goVex };
export const goDatabase: Project = {
  [`db/ID/${id}.json`]: JSON.stringify(goFlaw),
  "db/index/db.json": JSON.stringify({ modified }),
  "db/index/modules.json": JSON.stringify([{ path: "golang.org/x/text", vulns: [{ id, modified, fixed: "0.3.8" }] }]),
  "db/index/vulns.json": JSON.stringify([{ id, modified, aliases }]),
};

export interface VexRecipe extends Recipe {
  /** The statements that decide about a finding: its package, the status and the justification; and why others decide nothing. */
  decides: readonly string[];
}

const answered = ["npm left-pad@1.3.0 open", "npm minimist@0.0.8 resolved", "npm minimist@1.2.5 not_affected code_not_reachable"];
const asExploitable = [...answered, "npm ms@2.0.0 in_progress"];
/** OpenVEX's `affected` with an action, and CycloneDX's `exploitable` without a response, do not say that somebody is at work. */
const asAffected = [...answered, "npm ms@2.0.0 open"];

const scene = {
  project: "vex-shop",
  listing: "npm-shop",
  setup:
    "npm install --ignore-scripts --package-lock-only >/dev/null && npm sbom --sbom-format cyclonedx --package-lock-only > bom.json",
} as const;

const lib4vexRecipes = (
  [
    ["cyclonedx", asAffected],
    ["openvex", asAffected],
    /** It calls each product CSAFPID_0001, which is the shop, and gives none a package URL. */
    ["csaf", ["unknown_reference", "unknown_reference", "unknown_reference", "unknown_reference"]],
  ] as const
).map(([form, decides]): VexRecipe => ({
  ...scene,
  name: `vex-lib4vex-${form}`,
  version: "pip list 2>/dev/null | sed -n 's/^lib4vex *//p'",
  command: `rm -f vex.json && python lib.py ${form} >/dev/null`,
  keep: ["vex.json"],
  decides,
}));

const pythonLibRecipes = ["1.4", "1.5", "1.6"].map((spec): VexRecipe => ({
  ...scene,
  name: `vex-cyclonedx-python-lib-${spec}`,
  version: "pip list 2>/dev/null | sed -n 's/^cyclonedx-python-lib *//p'",
  command: `python bom.py ${spec}`,
  keep: ["vex.json"],
  decides: asExploitable,
}));

const goVexRecipes = ["", " within"].map((within): VexRecipe => ({
  ...scene,
  name: `vex-go-vex${within.replace(" ", "-")}`,
  version: "echo 0.2.9",
  setup: "cd vex && go mod init example.com/vex && go get github.com/openvex/go-vex@v0.2.9 && go mod tidy",
  command: `cd vex && go run .${within}`,
  keep: ["-"],
  decides: asAffected,
}));

const govulncheckRecipes = (["", " -scan module"] as const).map((flags): VexRecipe => ({
  name: `vex-govulncheck${flags === "" ? "" : "-module"}`,
  project: "vex-go-shop",
  setup: "go mod tidy",
  version: "govulncheck -version | sed -n 's/^Scanner: govulncheck@v//p'",
  command: `govulncheck -db "file://$PWD/db" -format openvex${flags}${flags === "" ? " ./..." : ""}`,
  keep: ["-"],
  listing: "go-shop",
  decides: [flags === "" ? "Go golang.org/x/text@v0.3.7 not_affected code_not_reachable" : "Go golang.org/x/text@v0.3.7 open"],
}));

export const vexRecipes: readonly VexRecipe[] = [...lib4vexRecipes, ...pythonLibRecipes, ...goVexRecipes, ...govulncheckRecipes];
