/** One small lock file of every format and version, with most of its format's features. */
const json = (value: unknown) => JSON.stringify(value, null, 2);

const toml = (packages: string) => `version = 1\n\n${packages}\n[metadata]\nlock-version = "2.1"\n`;

export const samples: readonly (readonly [path: string, text: string])[] = [
  [
    "npm-shrinkwrap.json",
    json({ lockfileVersion: 3, packages: { "": { dependencies: { a: "1" } }, "node_modules/a": { version: "1.0.0" } } }),
  ],
  [
    "v1/package-lock.json",
    json({
      lockfileVersion: 1,
      dependencies: { a: { version: "1.0.0", requires: { b: "2" }, dependencies: { b: { version: "2.0.0", dev: true } } } },
    }),
  ],
  [
    "package-lock.json",
    json({
      lockfileVersion: 3,
      packages: {
        "": { devDependencies: { a: "1" } },
        "packages/w": { dependencies: { b: "1" } },
        "node_modules/w": { link: true, resolved: "packages/w" },
        "node_modules/a": { version: "1.0.0", dev: true, dependencies: { b: "2" } },
        "node_modules/a/node_modules/b": { version: "2.0.0", name: "@s/b" },
        "node_modules/b": { version: "1.0.0", optional: true },
      },
    }),
  ],
  [
    "yarn.lock",
    '# yarn lockfile v1\n\n"@s/a@^1", a@npm:c@2:\n  version "1.2.3"\n  dependencies:\n    b "^2"\n\nb@^2:\n  version "2.0.0"\n',
  ],
  [
    "berry/yarn.lock",
    '__metadata:\n  version: 8\n\n"w@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "w@workspace:."\n  dependencies:\n    a: "npm:^1"\n  linkType: soft\n\n"a@npm:^1":\n  version: 1.0.0\n  resolution: "a@npm:1.0.0"\n  linkType: hard\n',
  ],
  [
    "pnpm-lock.yaml",
    "lockfileVersion: 5.4\ndependencies:\n  a: 1.0.0\npackages:\n  /a/1.0.0:\n    dependencies:\n      b: 2.0.0_a@1.0.0\n    dev: false\n  /b/2.0.0_a@1.0.0:\n    dev: true\n",
  ],
  [
    "nine/pnpm-lock.yaml",
    "lockfileVersion: '9.0'\nimporters:\n  .:\n    devDependencies:\n      '@s/a':\n        specifier: ^1\n        version: 1.0.0(b@2.0.0)\npackages:\n  '@s/a@1.0.0': {}\n  b@2.0.0: {}\nsnapshots:\n  '@s/a@1.0.0(b@2.0.0)':\n    dependencies:\n      b: 2.0.0\n  b@2.0.0: {}\n",
  ],
  [
    "poetry.lock",
    toml(
      '[[package]]\nname = "a"\nversion = "1.0"\ngroups = ["main"]\n[package.dependencies]\nb = {version = "*"}\n\n[[package]]\nname = "b"\nversion = "2.0"\ngroups = ["dev"]\n',
    ),
  ],
  [
    "uv.lock",
    toml(
      '[[package]]\nname = "w"\nversion = "0"\nsource = { virtual = "." }\ndependencies = [{ name = "a" }]\n[package.dev-dependencies]\ndev = [{ name = "b" }]\n\n[[package]]\nname = "a"\nversion = "1.0"\n\n[[package]]\nname = "b"\nversion = "2.0"\n',
    ),
  ],
  [
    "pdm.lock",
    toml(
      '[[package]]\nname = "a"\nversion = "1.0"\ngroups = ["default"]\ndependencies = ["b>=1; x"]\n\n[[package]]\nname = "b"\nversion = "2.0"\n',
    ),
  ],
  ["Pipfile.lock", json({ _meta: {}, default: { a: { version: "==1.0" } }, develop: { b: { version: "==2.0" } } })],
  [
    "requirements.txt",
    "-r x.txt\na==1.0  # via b\nb[c]==2.0 ; python_version < '3' --hash=sha256:0 \\\n  --hash=sha256:1\n    # via\n    #   -r x.in\nc>=1\n",
  ],
  [
    "pom.xml",
    "<project><version>1</version><properties><v>2.${w}</v><w>1</w></properties><dependencyManagement><dependencies><dependency><groupId>g</groupId><artifactId>m</artifactId><version>3</version></dependency></dependencies></dependencyManagement><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>${v}</version></dependency><dependency><groupId>g</groupId><artifactId>m</artifactId><scope>test</scope></dependency></dependencies></project>",
  ],
  ["gradle.lockfile", "# comment\ng:a:1.0=compileClasspath\ng:b:2.0=testRuntimeClasspath\nempty=\n"],
  [
    "go.mod",
    "module m\n\ngo 1.21\n\nrequire (\n\texample.com/a v1.0.0\n\texample.com/b v1.1.0 // indirect\n)\n\nreplace example.com/a => example.com/c v1.2.0\nexclude example.com/b v1.0.0\n",
  ],
  [
    "Cargo.lock",
    'version = 4\n\n[[package]]\nname = "w"\nversion = "0.1.0"\ndependencies = ["a 1.0.0"]\n\n[[package]]\nname = "a"\nversion = "1.0.0"\nsource = "registry+x"\n',
  ],
  [
    "Gemfile.lock",
    "GEM\n  remote: https://rubygems.org/\n  specs:\n    a (1.0.0)\n      b (~> 2)\n    b (2.0.0-java)\n\nDEPENDENCIES\n  a!\n",
  ],
  [
    "packages.lock.json",
    json({
      version: 1,
      dependencies: {
        "net8.0": {
          A: { type: "Direct", resolved: "1.0.0", dependencies: { b: "2" } },
          B: { type: "Transitive", resolved: "2.0.0" },
        },
      },
    }),
  ],
  ["packages.config", '<packages><package id="a" version="1.0" developmentDependency="true"/></packages>'],
  [
    "obj/project.assets.json",
    json({
      version: 3,
      targets: { net: { "A/1.0.0": { type: "package", dependencies: { B: "2" } }, "B/2.0.0": { type: "package" } } },
      project: { frameworks: { net: { dependencies: { A: {} } } } },
    }),
  ],
];
