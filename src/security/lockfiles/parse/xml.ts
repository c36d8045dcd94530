/** Parses XML of projects into a tree of elements, without namespaces, comments and processing instructions. */
import { SaxesParser } from "saxes";
import { lockFileDepthMax, lockFileFieldsMax, lockFileValuesMax } from "../../limits.ts";
import { LockFileError } from "../lock-file-error.ts";

const reasonCharactersMax = 200;

export interface XmlElement {
  /** Without its prefix. */
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlElement[];
  text: string;
}

/** @returns the root element @throws LockFileError with the line; a document type is refused, because it may declare entities */
export function parseLockXml(text: string): XmlElement {
  const parser = new SaxesParser({ position: true });
  const top: XmlElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [top];
  let count = 0;
  const refusal = (reason: string) => new LockFileError(`cannot be read as XML: ${reason}, in line ${parser.line}`);
  parser.on("error", (error) => {
    // The parser's message may quote a name of any length.
    throw refusal(error.message.replace(/^\d+:\d+: /, "").slice(0, reasonCharactersMax));
  });
  parser.on("doctype", () => {
    throw refusal("it has a document type, which may declare entities; remove it");
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > lockFileDepthMax || ++count > lockFileValuesMax) throw refusal("it is too deep or has too many elements");
    const element = { name: localName(name), attributes: new Map(Object.entries(attributes)), children: [], text: "" };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  let fields = 0;
  parser.on("opentagstart", () => void (fields = 0));
  parser.on("attribute", () => {
    if (++fields > lockFileFieldsMax) throw refusal("an element has too many attributes");
  });
  const append = (piece: string): void => {
    const element = open.at(-1);
    if (element !== undefined) element.text += piece;
  };
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  const [root] = top.children;
  if (root === undefined) throw refusal("it has no element");
  return root;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** The children of that name; none if the element is absent. */
export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** The first child of that name. */
export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenOf(element, name)[0];
}

/** null if there is no such child, or it is empty. */
export function childText(element: XmlElement | undefined, name: string): string | null {
  return childOf(element, name)?.text.trim() || null;
}
