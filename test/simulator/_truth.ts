import { readFileSync } from "node:fs";
import { BEHAVIOURS } from "../../src/simulator/behaviour.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import type { LibrarySimulator } from "../../src/simulator/inside.ts";
import { files } from "./_syntax.ts";
import { type Written, keysOf, written } from "./_written.ts";

/** One row of `docs/simulator-truth.md`. */
export interface Row {
  /** What the row is about; several when they are alike. */
  names: string[];
  what: string;
  source: string;
  /** `two` references, `one`, or `reasoned`. */
  sure: string;
  /** `Baileys`, `wire`; none when neither has met it. */
  confirmedBy: string[];
}

const page = (): string => readFileSync(new URL("../../docs/simulator-truth.md", import.meta.url), "utf8");
const namesIn = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

/** What the page says that zapo has confirmed: the list of its last section. */
export function confirmedByZapo(): string[] {
  const [, section = ""] = page().split("## What zapo has confirmed");
  return namesIn(section.split("\n\n").find((part) => part.startsWith("- ")) ?? "");
}

/** All rows of all tables of the page whose first cell names something. */
export function pageRows(): Row[] {
  return page()
    .split("\n")
    .flatMap((line) => {
      const [first = "", what = "", source = "", sure = "", clients = ""] = line
        .split("|")
        .slice(1)
        .map((cell) => cell.trim());
      const names = namesIn(first);
      if (!line.startsWith("|") || names.length === 0) return [];
      const confirmedBy = clients.split(", ").filter((client) => client !== "–" && client !== "");
      return [{ names, what, source, sure, confirmedBy }];
    });
}

/** Files that have a row each, because what they do has no name on the wire. */
const BELOW_STANZAS = /^(media|signal|wire)\//;

const named = (prefix: string, names: Iterable<string>, at: string): Written[] =>
  [...names].map((name) => ({ name: `${prefix} ${name}`, at }));
const prefixed = (prefix: string, list: Written[]): Written[] =>
  list.map(({ name, at }) => ({ name: `${prefix} ${name}`, at }));

/** Everything that the simulator does, as it says itself: its registries where there are any, its sources where there are none. */
export async function simulated(): Promise<Written[]> {
  const sim = (await startSimulator({ controlPort: false })) as LibrarySimulator;
  const { stanzas, iqs } = sim.server.understood;
  const faults = Object.keys(sim.faults).filter((name) => name !== "clear");
  await sim.stop();
  const questions = iqs.map(({ xmlns, type, child }) => [type, xmlns, child].filter(Boolean).join(" "));
  return [
    ...named("in iq", questions, "server/iq/"),
    ...prefixed("out notification w:gp2", keysOf("server/groups/notices.ts", "GROUP_CHANGES")),
    ...prefixed("out notification picture", keysOf("server/groups/notices.ts", "PICTURE_CHANGES")),
    ...prefixed("usync", keysOf("server/iq/usync.ts", "protocols")),
    ...named("in", stanzas, "server/server.ts"),
    ...written(),
    ...named("behaviour", BEHAVIOURS, "surface/behaviour.ts"),
    ...named("fault", faults, "surface/faults.ts"),
    ...prefixed("kind", keysOf("people/content.ts", "kinds")),
    ...files.filter((file) => BELOW_STANZAS.test(file)).map((file) => ({ name: file, at: file })),
  ];
}
