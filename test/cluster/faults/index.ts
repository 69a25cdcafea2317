import type { Fault } from "../drill.ts";
import { anythingKilled } from "./anything.ts";
import { CUTS } from "./cuts.ts";
import { DATABASE } from "./database.ts";
import {
  clockAhead,
  clockBehind,
  nameTaken,
  nodeAdded,
  nodeKilled,
  nodePaused,
  nothing,
  rollingRestart,
} from "./nodes.ts";
import { REDIS } from "./redis.ts";

/** In the order of the table. */
export const FAULTS: Fault[] = [
  nothing,
  nodeKilled,
  nodePaused,
  ...CUTS,
  ...REDIS,
  ...DATABASE,
  clockAhead,
  clockBehind,
  nameTaken,
  rollingRestart,
  nodeAdded,
  anythingKilled,
];

/** @throws naming those that there are */
export function faultsNamed(names: string[]): Fault[] {
  return names.map((name) => {
    const found = FAULTS.find((fault) => fault.name === name);
    if (found) return found;
    throw new Error(`There is no fault "${name}"; there are ${FAULTS.map((one) => one.name).join(", ")}.`);
  });
}
