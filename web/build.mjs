// Makes dist/report.html: the page of every report with script, style and policy inside, and two places that rubato
// fills in. Run `npm ci && npm run build` here after a change of src/; a test tells where that was forgotten.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const bundle = async (entry, define = {}) => {
  const made = await build({
    entryPoints: [new URL(entry, here).pathname],
    define, bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none",
    format: "iife", target: ["chrome96", "firefox96", "safari16.4"],
  });
  return made.outputFiles[0].text.trim();
};
const policyHash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/// Over what the page is made of; tests/web compares it without npm.
export const sourceHash = () => {
  const hash = createHash("sha256");
  const files = readdirSync(new URL("src/", here)).sort().map((name) => `src/${name}`);
  for (const file of [...files, "build.mjs", "package-lock.json"])
    hash.update(`${file}\n`).update(readFileSync(new URL(file, here)));
  return hash.digest("hex");
};

// "</script" and "<!--" would end or change the element they stand in.
const worker = JSON.stringify(await bundle("src/worker.js"));
const script = (await bundle("src/main.js", { RUBATO_WORKER: worker })).replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3c!--");
const style = await bundle("src/style.css");
const licence = readFileSync(new URL("node_modules/uplot/LICENSE", here), "utf8").trim();
const policy = `default-src 'none'; script-src ${policyHash(script)}; style-src ${policyHash(style)}; worker-src blob:; img-src data:; ` +
  "base-uri 'none'; form-action 'none'";
const places = { POLICY: policy, STYLE: style, SCRIPT: script, SOURCES: sourceHash(), LICENCE: licence };
const page = readFileSync(new URL("src/shell.html", here), "utf8").replace(/%(\w+)%/g, (whole, name) => places[name] ?? whole);
mkdirSync(new URL("dist/", here), { recursive: true });
writeFileSync(new URL("dist/report.html", here), page);
// For the notices of a binary release.
writeFileSync(new URL("dist/uPlot-LICENSE", here), `${licence}\n`);
console.log(`dist/report.html: ${Buffer.byteLength(page)} bytes`);
