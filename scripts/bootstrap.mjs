/**
 * Runs a script of package.json on a fresh clone, or on any other state of node_modules: `node scripts/bootstrap.mjs NAME [arguments]`. It
 * uses only Node's own modules, since nothing is installed yet. Its messages go to stderr, since stdout belongs to the script.
 */
const nodeMajorMin = 20;

// The rest is imported late, so that an old Node prints this message instead of a syntax error.
if (Number(process.versions.node.split(".")[0]) < nodeMajorMin) {
  console.error(`Weir needs Node ${nodeMajorMin} or newer to install itself; this is Node ${process.versions.node}`);
  process.exitCode = 1;
} else {
  import("./bootstrap/main.mjs").then(function (module) {
    return module.main(process.argv.slice(2));
  });
}
