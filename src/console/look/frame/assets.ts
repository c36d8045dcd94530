/** The style and the script of every page of the Console. */
import { asset, pageStyle } from "../../../http/page.ts";

const inLook = (file: string): URL => new URL(`../${file}`, import.meta.url);

export const consoleStyle = asset("style", [pageStyle, ...["frame.css", "parts.css", "forms.css", "workbench.css"].map(inLook)]);
export const consoleScript = asset("script", [inLook("console.js")]);
