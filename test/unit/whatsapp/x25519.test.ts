import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** With the lock that Node 20 holds while it exports a generated key, a process stood still after a few thousand of them. */
it("makes tens of thousands of pairs without standing still", () => {
  const script = `
    import { newKeyPair } from "./src/whatsapp/everyday/curve.ts";
    for (let n = 0; n < 20_000; n++) newKeyPair();
    console.log("made");`;
  const args = ["--import", "tsx", "--input-type=module", "-e", script];
  const { stdout } = spawnSync(process.execPath, args, {
    timeout: 45_000,
    killSignal: "SIGKILL",
    encoding: "utf8",
  });
  expect(stdout.trim()).toBe("made");
});

it("no source asks a key object for its JSON form", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const asking = sources.filter((file) =>
    /\.export\(\{ format: "jwk"/.test(readFileSync(`src/${file}`, "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "")),
  );
  expect(asking).toEqual([]);
});
