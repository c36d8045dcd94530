/** The location of a fault, as a person finds it in the document. */
import type { Path } from "./validate.ts";
import type { Shape } from "./shape.ts";

/** Such as `components[12].purl`; the document itself is `document`. */
export function jsonLocation(path: Path): string {
  const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
  return place === "" ? "document" : place.replace(/^\./, "");
}

/** Such as `/bom/components/component[13]/@bom-ref`: positions count from one, as in XPath. */
export function xmlLocation(path: Path, root: Shape): string {
  let place = "/bom";
  let shape: Shape | undefined = root;
  for (const step of path) {
    const next: Step = typeof step === "number" ? itemLocation(step, shape) : fieldLocation(step, shape);
    place += next.place;
    shape = next.shape;
  }
  return place;
}

interface Step {
  place: string;
  shape: Shape | undefined;
}

function itemLocation(index: number, shape: Shape | undefined): Step {
  const list = shape?.kind === "either" ? shape.list : shape;
  if (list?.kind !== "list") return { place: `[${index + 1}]`, shape: undefined };
  const name = list.choice !== undefined ? "*" : (list.items ?? list.flat ?? "*");
  const attribute = list.itemAttribute === undefined ? "" : `/@${list.itemAttribute}`;
  return { place: `/${name}[${index + 1}]${attribute}`, shape: list.of() };
}

function fieldLocation(key: string, shape: Shape | undefined): Step {
  const object = shape?.kind === "either" ? shape.object : shape;
  const field = object?.kind === "object" && Object.hasOwn(object.fields, key) ? object.fields[key] : undefined;
  const name = field?.xml?.name ?? key;
  if (field === undefined) return { place: `/${name}`, shape: undefined };
  if (field.xml?.as === "attribute") return { place: `/@${name}`, shape: field.shape };
  if (field.xml?.as === "content") return { place: "/text()", shape: field.shape };
  const isFlat = field.shape.kind === "list" && field.shape.flat !== undefined;
  return { place: isFlat ? "" : `/${name}`, shape: field.shape };
}
