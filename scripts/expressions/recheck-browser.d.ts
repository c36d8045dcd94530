/** The pure JavaScript build of recheck. The package's main file looks for a Java or native program. */
declare module "recheck/lib/browser.js" {
  export { checkSync } from "recheck";
}
