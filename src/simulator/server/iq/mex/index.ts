import { child, element, text } from "../../../wire/nodes.ts";
import { IqError, MalformedIq } from "../../iq-error.ts";
import type { IqHandler } from "../handler.ts";
import type { Channels } from "../../channels/channels.ts";
import type { NewChats } from "../../messages/new-chats.ts";
import type { Reachout } from "../../messages/reachout.ts";
import { createAccountQueries } from "./account.ts";
import { createChannelQueries } from "./channels.ts";
import { MexError } from "./query.ts";
import type { MexQuery } from "./query.ts";

interface Needs {
  channels: Pick<Channels, "all" | "tell">;
  reachout: Pick<Reachout, "state">;
  newChats: Pick<NewChats, "state">;
}

/** Queries in JSON (`w:mex`), asked through the same connection. */
export function createMexHandlers({ channels, reachout, newChats }: Needs): IqHandler[] {
  const queries = { ...createAccountQueries({ reachout, newChats }), ...createChannelQueries(channels) };
  return [mexHandler(queries)];
}

const mexHandler = (queries: Record<string, MexQuery>): IqHandler => ({
  xmlns: "w:mex",
  type: "get",
  child: "query",
  answer({ device, iq, body }) {
    const query = queries[body.attrs.query_id ?? ""];
    if (!query) throw new IqError(404, "item-not-found");
    const variables = variablesOf(text(child(iq, "query")));
    try {
      return [resultOf({ data: { [query.field]: query.answer({ device, variables }) } })];
    } catch (error) {
      if (!(error instanceof MexError)) throw error;
      const extensions = { error_code: error.code, severity: "CRITICAL", is_retryable: false };
      const errors = [{ message: error.message, path: [query.field], extensions }];
      return [resultOf({ data: null, errors })];
    }
  },
});

const resultOf = (answer: unknown) => element("result", {}, Buffer.from(JSON.stringify(answer)));

function variablesOf(json: string | undefined): Record<string, unknown> {
  try {
    const { variables } = JSON.parse(json ?? "") as { variables?: Record<string, unknown> };
    if (variables && typeof variables === "object") return variables;
  } catch {
    // Falls through to the error below.
  }
  throw new MalformedIq("a mex query without variables");
}
