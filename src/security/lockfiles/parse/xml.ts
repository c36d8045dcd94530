/** Parses XML of projects into a tree of elements, without namespaces, comments and processing instructions. */
import { SaxesParser } from "saxes";
import { lockFileDepthMax, lockFileValuesMax } from "../../limits.ts";
import { LockFileError } from "../lock-file-error.ts";

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
  const refuse = (reason: string) => new LockFileError(`is not taken as XML: ${reason}, in line ${parser.line}`);
  parser.on("error", (error) => {
    throw refuse(error.message.replace(/^\d+:\d+: /, ""));
  });
  parser.on("doctype", () => {
    throw refuse("it has a document type, which may declare entities; remove it");
  });
  parser.on("opentag", ({ name, attributes }) => {
    if (open.length > lockFileDepthMax || ++count > lockFileValuesMax) throw refuse("it is too deep or has too many elements");
    const element = { name: localName(name), attributes: new Map(Object.entries(attributes)), children: [], text: "" };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on("text", (piece) => {
    const element = open.at(-1);
    if (element !== undefined) element.text += piece;
  });
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  const [root] = top.children;
  if (root === undefined) throw refuse("it has no element");
  return root;
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return childrenOf(element, name)[0];
}

/** null if there is no such child, or it is empty. */
export function childText(element: XmlElement | undefined, name: string): string | null {
  return childOf(element, name)?.text.trim() || null;
}
