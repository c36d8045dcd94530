/** The metrics of each version of CVSS, in the order of its specification: FIRST's v2.0 guide, v3.0, v3.1 and v4.0 documents. */

export type CvssVersion = "2.0" | "3.0" | "3.1" | "4.0";

interface Metric {
  values: readonly string[];
  /** Whether every vector must have it. */
  mandatory: boolean;
}

interface VectorGrammar {
  /** The prefix of the vector; 2.0 has none. */
  prefix: string;
  /** Whether the order is fixed: 4.0 allows only the order of its specification (section 7). */
  ordered: boolean;
  /** In the order of the specification. */
  metrics: ReadonlyMap<string, Metric>;
}

const base3 = mandatory("AV:NALP AC:LH PR:NLH UI:NR S:UC C:HLN I:HLN A:HLN");
const further3 = optional(
  "E:XHFPU RL:XUWTO RC:XCRU CR:XHML IR:XHML AR:XHML MAV:XNALP MAC:XLH MPR:XNLH MUI:XNR MS:XUC MC:XNLH MI:XNLH MA:XNLH",
);

export const grammars: Readonly<Record<CvssVersion, VectorGrammar>> = {
  "2.0": {
    prefix: "",
    ordered: false,
    metrics: new Map([
      ...mandatory("AV:LAN AC:HML Au:MSN C:NPC I:NPC A:NPC"),
      ...optional(
        "E:U,POC,F,H,ND RL:OF,TF,W,U,ND RC:UC,UR,C,ND CDP:N,L,LM,MH,H,ND TD:N,L,M,H,ND CR:L,M,H,ND IR:L,M,H,ND AR:L,M,H,ND",
      ),
    ]),
  },
  "3.0": { prefix: "CVSS:3.0/", ordered: false, metrics: new Map([...base3, ...further3]) },
  "3.1": { prefix: "CVSS:3.1/", ordered: false, metrics: new Map([...base3, ...further3]) },
  "4.0": {
    prefix: "CVSS:4.0/",
    ordered: true,
    metrics: new Map([
      ...mandatory("AV:NALP AC:LH AT:NP PR:NLH UI:NPA VC:HLN VI:HLN VA:HLN SC:HLN SI:HLN SA:HLN"),
      ...optional("E:XAPU CR:XHML IR:XHML AR:XHML MAV:XNALP MAC:XLH MAT:XNP MPR:XNLH MUI:XNPA MVC:XHLN MVI:XHLN MVA:XHLN"),
      ...optional("MSC:XHLN MSI:XSHLN MSA:XSHLN S:XNP AU:XNY R:XAUI V:XDC RE:XLMH U:X,Clear,Green,Amber,Red"),
    ]),
  },
};

function mandatory(text: string): Map<string, Metric> {
  return metricsFrom(text, true);
}

function optional(text: string): Map<string, Metric> {
  return metricsFrom(text, false);
}

/** `AV:NALP` gives each letter as a value; commas separate values of several letters. */
function metricsFrom(text: string, isMandatory: boolean): Map<string, Metric> {
  return new Map(
    text.split(" ").map((metric) => {
      const [name = "", values = ""] = metric.split(":");
      return [name, { values: values.split(values.includes(",") ? "," : ""), mandatory: isMandatory }];
    }),
  );
}
