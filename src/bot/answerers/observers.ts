import type { Logger } from "../../log.ts";
import type { StoredMessage } from "../../model/answerer.ts";
import type { Time } from "../../model/time.ts";
import { lazyView } from "../messages/message-view.ts";
import type { Blocking } from "../handlers/blocking.ts";
import { NOBODY, type Onlooker } from "./onlooker.ts";
import { describeError } from "../handlers/run.ts";
import { whereOf } from "../handlers/turn-results.ts";
import type { ActiveBot } from "../routes/table.ts";
import type { Observation } from "../types.ts";

interface ObserverDeps {
  config: { botTimeoutMs: number };
  log: Logger;
  time: Pick<Time, "now" | "monotonic" | "after">;
  blocking: Pick<Blocking, "noteTime" | "isLeftOut">;
  /** Default: nobody. */
  onlooker?: Pick<Onlooker, "failed">;
}

/** Shows a message to the observers of a number's bots. Nobody waits for them; what they throw is logged. */
export function notifyObservers(
  deps: ObserverDeps,
  active: readonly ActiveBot[],
  stored: StoredMessage,
): void {
  const { message, ownNumber, deviceId } = stored;
  if (message.timer) return;
  const view = lazyView(message);
  for (const { bot, config } of active) {
    if (
      bot.observers.length === 0 ||
      deps.blocking.isLeftOut(bot.id) ||
      !(bot.chats as readonly string[]).includes(message.chatKind)
    )
      continue;
    const log = deps.log.child({ bot: bot.id, device: deviceId, message: message.id });
    const signal = new AbortController();
    const late = new DOMException("The observer's time is up.", "TimeoutError");
    const cancel = deps.time.after(deps.config.botTimeoutMs, () => signal.abort(late));
    const observation: Observation = {
      text: message.text,
      from: { name: message.pushName, number: message.number, lid: message.lid, id: message.sender },
      chat: { id: message.chatKey, kind: message.chatKind },
      number: ownNumber,
      message: view(),
      config,
      log,
      signal: signal.signal,
      now: deps.time.now,
    };
    const began = deps.time.monotonic();
    const taps = bot.observers.map((tap) =>
      observe(tap as (observation: Observation) => unknown, observation, (error) => {
        log.error(
          { err: describeError(error, observation.text), ...whereOf(error, bot.file) },
          "an observer (b.tap) threw",
        );
        (deps.onlooker ?? NOBODY).failed({ bot: bot.id, route: "tap", message: message.id, error });
      }),
    );
    void Promise.all(taps).finally(cancel);
    const place = { bot: bot.id, route: "tap", device: deviceId, message: message.id };
    deps.blocking.noteTime(place, deps.time.monotonic() - began);
  }
}

async function observe(
  tap: (observation: Observation) => unknown,
  observation: Observation,
  threw: (error: unknown) => void,
): Promise<void> {
  try {
    await tap(observation);
  } catch (error) {
    threw(error);
  }
}
