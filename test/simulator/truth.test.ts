import { expect, it } from "vitest";
import { type Row, confirmedByZapo, pageRows, simulated } from "./_truth.ts";
import { files } from "./_syntax.ts";

/** Where the page has the rows of each sort. The first that a name begins with counts. */
const HEADINGS: [prefix: string, heading: string][] = [
  ["in iq", "What clients ask"],
  ["usync", "What clients ask"],
  ["mex", "What clients ask"],
  ["in", "What clients send"],
  ["out", "What the service sends"],
  ["ack error", "Refusals"],
  ["iq error", "Refusals"],
  ["violation", "What is held against a client"],
  ["behaviour", "Switches"],
  ["fault", "Faults"],
  ["kind", "What people write and read"],
  ["", "Below the stanzas"],
];

it("says of everything that the simulator does where it is from, and of nothing else", async () => {
  const rows = new Set(pageRows().flatMap(({ names }) => names));
  const all = await simulated();
  const names = new Set(all.map(({ name }) => name));

  const missing = all
    .filter(({ name }) => !rows.has(name))
    .map(({ name, at }) => {
      const [, heading] = HEADINGS.find(([prefix]) => name.startsWith(prefix))!;
      return `"${name}" (src/simulator/${at}) has no row. Add to the table under "## ${heading}": | \`${name}\` | what it is | source | two, one or reasoned | Baileys, wire or – |`;
    });
  const extra = [...rows, ...confirmedByZapo()]
    .filter((name) => !names.has(name) && !files.includes(name))
    .map(
      (name) =>
        `"${name}" has a row or is confirmed, but the simulator does not do it (any more): take it out`,
    );
  expect([...missing, ...extra], "docs/simulator-truth.md").toEqual([]);
});

it("says in each row how sure it is, and by whom it is confirmed", () => {
  const rows = pageRows();
  expect(rows.length).toBeGreaterThan(100);
  expect(rows.flatMap(problemsOf)).toEqual([]);
  const names = rows.flatMap((row) => row.names);
  expect(
    names.filter((name, index) => names.indexOf(name) !== index),
    "named twice",
  ).toEqual([]);
});

/** What can be a reference; something that is only reasoned may say why instead. */
const REFERENCE = /whatsmeow|whatsapp-rust|zapo|Baileys|OpenWA|WAHA|Signal|RFC \d+|WebAuthn/g;
const LEAST: Record<string, number> = { two: 2, one: 1, reasoned: 0 };

function problemsOf({ names: [name], what, source, sure, confirmedBy }: Row): string[] {
  const references = new Set(source.match(REFERENCE)).size;
  const least = LEAST[sure];
  const problems = [
    what.length > 10 ? "" : "does not say what it is",
    source === "" ? "has no source, nor a reason" : "",
    least === undefined ? `is sure in a way that nobody knows: ${sure}` : "",
    references < (least ?? 0) ? `is "${sure}" with ${references} references` : "",
    confirmedBy.every((client) => ["Baileys", "wire"].includes(client)) ? "" : "has no such client",
  ];
  return problems.filter(Boolean).map((problem) => `${name} ${problem}`);
}
