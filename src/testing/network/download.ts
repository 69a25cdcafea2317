import { OutboundError } from "../../net/errors.ts";
import type { SafeFetch } from "../../net/safe-fetch.ts";
import { answerFromStubs } from "./network.ts";

/** Files that bots send by address come from stubs as well. */
export const downloadFromStubs: SafeFetch["download"] = async (url, _limits, read) => {
  const answer = await answerFromStubs(new Request(url));
  if (!answer.ok)
    throw new OutboundError("unreachable", `It answered ${answer.status}.`, { status: answer.status });
  const body = Buffer.from(await answer.arrayBuffer());
  return read({
    url,
    header: (name) => answer.headers.get(name),
    body: (async function* () {
      yield body;
    })(),
  });
};
