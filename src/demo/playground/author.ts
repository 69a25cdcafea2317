import { readReloadLine } from "../../bot/files/live.ts";
import { failureIn, isOfFile, warningIn } from "../../cli/dev-failure.ts";
import { GatewayAway, GatewayRefusal, type GatewayClient } from "../../cli/gateway-client.ts";
import { switchOn } from "../stage.ts";
import type { Lines } from "./lines.ts";
import type { AuthorView, BotTroubleView, ReloadView } from "./view.ts";

/** What the author of a folder's bots is told beside the phones. */
export interface Author {
  /** A line of the gateway in development. */
  hear(line: string): void;
  /** The gateway answers, maybe again: it has read all files anew. */
  cameUp(): void;
  view(): AuthorView;
  /** Ids of the bots that work. */
  bots(): string[];
}

interface Needs {
  gateway: GatewayClient;
  /** Of the bots, absolute. */
  folder: string;
  /** How it is shown. */
  name: string;
  lines: Pick<Lines, "note">;
  onChange(): void;
  onTrouble(text: string): void;
}

const RELOAD = "bots: ";
const MOST_RELOADS = 20;

/** What `GET /bots` says of a bot. */
interface Listed {
  id: string;
  error?: string;
  kept?: boolean;
  warnings?: string[];
}

/** Follows what the gateway in development writes, and asks it how the bots are whenever their files were read. */
export function createAuthor({ gateway, folder, name, lines, onChange, onTrouble }: Needs): Author {
  const reloads: ReloadView[] = [];
  let listed: Listed[] = [];
  const look = async (added: string | null): Promise<void> => {
    try {
      listed = (await gateway.get<{ data: Listed[] }>("/bots")).data;
      onChange();
      if (added !== null) await switchOn(gateway, added);
    } catch (error) {
      // Before the number is there no bot is on; a gateway that starts or was killed is asked when it is up.
      const isEarly = error instanceof GatewayRefusal && error.status === 404;
      if (!isEarly && !(error instanceof GatewayAway)) onTrouble((error as Error).message);
    }
  };
  void look(null);
  return {
    hear(line) {
      const failure = failureIn(line, folder);
      if (failure !== null)
        lines.note(failure.message, { kind: "error", text: failure.title, places: failure.places });
      const said = warningIn(line);
      if (said !== null)
        lines.note(said.message, { kind: said.isError ? "error" : "warning", text: said.title, places: [] });
      const reload = line.startsWith(RELOAD) ? readReloadLine(line.slice(RELOAD.length)) : null;
      if (isOfFile(line)) void look(null);
      if (failure !== null || reload === null) return;
      const { what, name: changed } = reload;
      reloads.unshift({ at: Date.now(), what, name: changed });
      reloads.splice(MOST_RELOADS);
      onChange();
      void look(what === "added" ? changed : null);
    },
    cameUp: () => void look(null),
    view: () => ({ folder: name, troubles: listed.flatMap(troubleOf), reloads: [...reloads] }),
    bots: () => listed.filter(({ error, kept }) => error === undefined || kept).map(({ id }) => id),
  };
}

function troubleOf({ id, error, kept = false, warnings = [] }: Listed): BotTroubleView[] {
  const isWell = error === undefined && warnings.length === 0;
  return isWell ? [] : [{ bot: id, error: error ?? null, kept, warnings }];
}
