import type { Simulator } from "../../simulator/types.ts";
import { atRest } from "../judge/at-rest.ts";
import { judge } from "../judge/judge.ts";
import { NUMBER } from "../services.ts";
import type { PhoneView, VerdictView } from "./view.ts";

interface Needs {
  simulator: Simulator;
  dataDir: string;
  phones(): PhoneView[];
}

/** What waits for a phone that is away, or for a webhook that is down, stays as it is: no longer is waited. */
const STILL_MS = 2_500;

/** Judges by the simulator's transcript once everything has come to rest. Callers at the same time get one verdict. */
export function createVerdicts({ simulator, dataDir, phones }: Needs): () => Promise<VerdictView> {
  let running: Promise<VerdictView> | null = null;
  const look = async () => {
    const away = phones().flatMap(({ online, number }) => (online ? [] : [number]));
    return judge({ sim: simulator, dataDir }, { numbers: [NUMBER], refusals: true, away });
  };
  const run = async (): Promise<VerdictView> => {
    const { messages, lost, duplicated, outOfOrder, refused = 0, problems } = await atRest(look, STILL_MS);
    return { at: Date.now(), messages, lost, doubled: duplicated, outOfOrder, refused, problems };
  };
  return () => (running ??= run().finally(() => (running = null)));
}
