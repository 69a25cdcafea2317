import { expect, it } from "vitest";
import { linesAfterMaking } from "../../src/cli/bots/made-lines.ts";

const where = { id: "menu", root: "/srv/parley", cwd: "/srv/parley", env: {}, number: null, botsDir: null };
const commands = (change: Partial<Parameters<typeof linesAfterMaking>[0]>): string[] =>
  linesAfterMaking({ ...where, ...change })
    .filter((line) => line.startsWith("  "))
    .map((line) => line.trim());

it("a bot of the repository is built into the gateway", () => {
  expect(commands({})).toEqual([
    "npm run parley -- bots test menu",
    "npm run dev",
    "npm start",
    "npm run parley -- link --help",
    "npm run parley -- bots bind --help",
  ]);
});

it("a folder, a gateway and a place elsewhere stand in the commands, as a shell takes them", () => {
  const env = { PORT: "8080", PARLEY_ADMIN_TOKEN: "secret" };
  const cwd = "/srv/tables";
  expect(commands({ botsDir: "/srv/my bots", cwd, env, number: "31600000001" })).toEqual([
    "BOTS_DIR='/srv/my bots' npm --prefix /srv/parley run parley -- bots test menu",
    "BOTS_DIR='/srv/my bots' npm --prefix /srv/parley run dev",
    "PORT=8080 npm --prefix /srv/parley run parley -- bots reload",
    "PORT=8080 npm --prefix /srv/parley run parley -- bots bind 31600000001 menu",
  ]);
});
