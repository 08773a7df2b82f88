// Runs scenario files in Node.js and prints fingerprint and user CPU time in seconds by name.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Engine } from "../../playground/engine.js";

const [wasm, seed, ...files] = process.argv.slice(2);
const engine = new Engine(new WebAssembly.Module(readFileSync(wasm)));
const made = {};
for (const file of files) {
  const began = process.cpuUsage();
  engine.call({ do: "start", text: readFileSync(file, "utf8"), overrides: { seed: Number(seed) } });
  // The run has two steps: its results do not depend on steps.
  engine.call({ do: "advance", until_s: 3 });
  engine.call({ do: "advance", until_s: 1e12 });
  const { summary } = engine.call({ do: "tables" });
  made[basename(file)] = { fingerprint: summary.fingerprint, user_s: process.cpuUsage(began).user / 1e6 };
}
console.log(JSON.stringify(made));
