// Makes dist/dashboard.html: the page that rubato-exporter --http serves, with script, style and policy inside. It shares
// the parts in src/ with the reports. Run `npm ci && npm run build` here after a change; a test tells where that was forgotten.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL(".", import.meta.url);
const bundle = async (entry) => {
  const made = await build({
    entryPoints: [new URL(entry, here).pathname],
    bundle: true, minify: true, write: false, charset: "utf8", legalComments: "none",
    format: "iife", target: ["chrome96", "firefox96", "safari16.4"],
  });
  return made.outputFiles[0].text.trim();
};
const policyHash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/// Over what the page is made of; tests/web compares it without npm.
const sourceHash = () => {
  const hash = createHash("sha256");
  const files = ["dashboard/", "src/"].flatMap((folder) => readdirSync(new URL(folder, here)).sort().map((name) => folder + name));
  for (const file of [...files, "build-dashboard.mjs", "package-lock.json"])
    hash.update(`${file}\n`).update(readFileSync(new URL(file, here)));
  return hash.digest("hex");
};

// "</script" and "<!--" would end or change the element they stand in.
const script = (await bundle("dashboard/main.js")).replaceAll("</script", "<\\/script").replaceAll("<!--", "\\x3c!--");
const style = await bundle("dashboard/style.css");
const licence = readFileSync(new URL("node_modules/uplot/LICENSE", here), "utf8").trim();
const policy = `default-src 'none'; script-src ${policyHash(script)}; style-src ${policyHash(style)}; img-src data:; connect-src 'self'; ` +
  "base-uri 'none'; form-action 'none'";
const places = { POLICY: policy, STYLE: style, SCRIPT: script, SOURCES: sourceHash(), LICENCE: licence };
const page = readFileSync(new URL("dashboard/shell.html", here), "utf8").replace(/%(\w+)%/g, (whole, name) => places[name] ?? whole);
mkdirSync(new URL("dist/", here), { recursive: true });
writeFileSync(new URL("dist/dashboard.html", here), page);
console.log(`dist/dashboard.html: ${Buffer.byteLength(page)} bytes`);
