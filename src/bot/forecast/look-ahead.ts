import type { Store } from "../../store/store.ts";
import { createBindings } from "../bindings/bindings.ts";
import type { LoadedBots } from "../files/load.ts";
import { forecast } from "./forecast.ts";
import { storedRows } from "./rows.ts";
import type { ConversationForecast, Forecast } from "./types.ts";

/** How it is gone through. */
export interface LookOptions {
  /** Called after each page of rows; default: nothing. */
  between?: () => Promise<void>;
  /** Told of each open conversation. */
  onEach?(conversation: ConversationForecast): void;
}

const refuse = (): Promise<never> => Promise.reject(new TypeError("Nothing is written here."));

/** Says what becomes of everything that a store holds when these bots run: it reads only, whoever else writes meanwhile. */
export async function lookAhead(
  store: Pick<Store, "pages" | "box" | "now">,
  { registry, locales }: LoadedBots,
  { between = async () => undefined, onEach }: LookOptions = {},
): Promise<Forecast> {
  const writer = { commit: refuse, soon: refuse, drain: refuse };
  // What of the bindings does not fit is counted: whoever wants to know reads it there.
  const bindings = createBindings({ ...store, read: refuse, writer }, registry, () => undefined);
  await bindings.load();
  return forecast({
    rows: storedRows(store, between),
    box: store.box,
    registry,
    locales,
    tableOf: bindings.tableOf,
    now: store.now,
    ...(onEach && { onEach }),
  });
}
