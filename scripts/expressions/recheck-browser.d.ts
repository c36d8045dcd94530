/** The build of recheck that is JavaScript alone: the package's main file looks for a Java or native program. */
declare module "recheck/lib/browser.js" {
  export { checkSync } from "recheck";
}
