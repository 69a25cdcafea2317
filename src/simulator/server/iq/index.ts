import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import { firstAnswer } from "../hooks.ts";
import type { Hooks } from "../hooks.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import type { Reports, StanzaHandler } from "../ports.ts";
import { nameOf, textOf } from "../router.ts";
import { accountHandlers } from "./account.ts";
import { createAppStateHandlers } from "./app-state.ts";
import { createEncryptHandlers } from "./encrypt.ts";
import { createGroupHandlers } from "./groups.ts";
import type { IqHandler } from "./handler.ts";
import { createLinkingHandlers } from "./linking.ts";
import { createMediaHandlers } from "./media.ts";
import { createMexHandlers } from "./mex/index.ts";
import { createNewsletterHandlers } from "./newsletter.ts";
import { createPasskeyHandlers } from "./passkey.ts";
import { createPrivacyHandlers } from "./privacy.ts";
import { createProfileHandlers } from "./profile.ts";
import { createSessionHandlers } from "./session.ts";
import { createUsyncHandlers } from "./usync.ts";

/** Everything that one of the handlers needs. */
type HandlerNeeds = Parameters<typeof createAppStateHandlers>[0] &
  Parameters<typeof createEncryptHandlers>[0] &
  Parameters<typeof createGroupHandlers>[0] &
  Parameters<typeof createLinkingHandlers>[0] &
  Parameters<typeof createMediaHandlers>[0] &
  Parameters<typeof createMexHandlers>[0] &
  Parameters<typeof createNewsletterHandlers>[0] &
  Parameters<typeof createPasskeyHandlers>[0] &
  Parameters<typeof createPrivacyHandlers>[0] &
  Parameters<typeof createProfileHandlers>[0] &
  Parameters<typeof createSessionHandlers>[0] &
  Parameters<typeof createUsyncHandlers>[0];

/** Every IQ this service understands. To add a group of them, add a file beside this one and a line here. */
export const createIqHandlers = (needs: HandlerNeeds): IqHandler[] => [
  ...accountHandlers,
  ...createAppStateHandlers(needs),
  ...createEncryptHandlers(needs),
  ...createGroupHandlers(needs),
  ...createLinkingHandlers(needs),
  ...createMediaHandlers(needs),
  ...createMexHandlers(needs),
  ...createNewsletterHandlers(needs),
  ...createPasskeyHandlers(needs),
  ...createPrivacyHandlers(needs),
  ...createProfileHandlers(needs),
  ...createSessionHandlers(needs),
  ...createUsyncHandlers(needs),
];

interface Needs extends Reports {
  hooks: Pick<Hooks, "iq">;
  handlers: readonly IqHandler[];
}

/** Answers clients' IQs. One that no handler recognises is refused with 501 and recorded as a violation. */
export function createIqs(needs: Needs): StanzaHandler {
  return (connection, iq) => answerIq(needs, connection, iq);
}

function answerIq(needs: Needs, connection: Connection, iq: BinaryNode): void {
  const { id, type, xmlns } = iq.attrs;
  const who = nameOf(connection);
  const body = children(iq)[0] ?? element("");
  if (type === "result" || type === "error") return;
  if (!id) {
    needs.violations.report("malformed_stanza", who, `iq ${xmlns} without id`);
    return;
  }
  const handler = needs.handlers.find(
    (candidate) =>
      candidate.xmlns === xmlns &&
      candidate.type === (type ?? "get") &&
      (candidate.child === undefined || candidate.child === body.tag) &&
      (connection.device || candidate.beforeLogin),
  );
  if (!handler) {
    needs.violations.report("unknown_iq", who, `${type} ${xmlns} <${body.tag}>`);
    connection.send(refusal(iq, new IqError(501, "feature-not-implemented")));
    return;
  }
  void respond(needs, connection, iq, body, handler);
}

async function respond(
  needs: Needs,
  connection: Connection,
  iq: BinaryNode,
  body: BinaryNode,
  handler: IqHandler,
): Promise<void> {
  try {
    const device = connection.device!;
    const refused = device && firstAnswer(needs.hooks.iq, device, iq);
    if (refused) throw refused;
    const given = handler.answer({ connection, device, iq, body });
    // Handlers that answer synchronously must be answered in the order of the questions.
    const content = given instanceof Promise ? await given : given;
    const attrs = { from: iq.attrs.to ?? SERVER_JID, type: "result", id: iq.attrs.id };
    connection.send(element("iq", attrs, content.length > 0 ? content : undefined));
  } catch (error) {
    const who = nameOf(connection);
    if (error instanceof MalformedIq) needs.violations.report("malformed_iq", who, error.detail);
    if (!(error instanceof IqError)) needs.violations.report("simulator_error", who, textOf(error));
    const known = error instanceof IqError ? error : new IqError(500, "internal-server-error");
    connection.send(refusal(iq, known));
  }
}

function refusal(iq: BinaryNode, { code, message, backoff }: IqError): BinaryNode {
  const attrs = { from: iq.attrs.to ?? SERVER_JID, type: "error", id: iq.attrs.id };
  const seconds = backoff === undefined ? undefined : String(backoff);
  return element("iq", attrs, [element("error", { code: String(code), text: message, backoff: seconds })]);
}
