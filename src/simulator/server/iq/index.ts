import { children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection } from "../connection.ts";
import { firstAnswer } from "../hooks.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import { SERVER_JID } from "../jid.ts";
import type { SimulatorServer } from "../server.ts";
import { accountHandlers } from "./account.ts";
import { encryptHandlers } from "./encrypt.ts";
import { groupHandlers } from "./groups.ts";
import type { IqHandler } from "./handler.ts";
import { linkingHandlers } from "./linking.ts";
import { mediaHandlers } from "./media.ts";
import { mexHandlers } from "./mex/index.ts";
import { newsletterHandlers } from "./newsletter.ts";
import { privacyHandlers } from "./privacy.ts";
import { profileHandlers } from "./profile.ts";
import { sessionHandlers } from "./session.ts";
import { usyncHandlers } from "./usync.ts";

const handlers: IqHandler[] = [
  ...accountHandlers,
  ...encryptHandlers,
  ...groupHandlers,
  ...linkingHandlers,
  ...mediaHandlers,
  ...mexHandlers,
  ...newsletterHandlers,
  ...privacyHandlers,
  ...profileHandlers,
  ...sessionHandlers,
  ...usyncHandlers,
];

/** Answers a client's IQ; one that no handler knows is refused with 501 and recorded. */
export function answerIq(server: SimulatorServer, connection: Connection, iq: BinaryNode): void {
  const { id, type, xmlns } = iq.attrs;
  const who = connection.device?.label ?? "unlinked";
  const body = children(iq)[0] ?? element("");
  if (type === "result" || type === "error") return;
  if (!id) {
    server.violations.report("malformed_stanza", who, `iq ${xmlns} without id`);
    return;
  }
  const handler = handlers.find(
    (candidate) =>
      candidate.xmlns === xmlns &&
      candidate.type === (type ?? "get") &&
      (candidate.child === undefined || candidate.child === body.tag) &&
      (connection.device || candidate.beforeLogin),
  );
  if (!handler) {
    server.violations.report("unknown_iq", who, `${type} ${xmlns} <${body.tag}>`);
    connection.send(refusal(iq, 501, "feature-not-implemented"));
    return;
  }
  void respond(server, connection, iq, body, handler);
}

async function respond(
  server: SimulatorServer,
  connection: Connection,
  iq: BinaryNode,
  body: BinaryNode,
  handler: IqHandler,
): Promise<void> {
  try {
    const device = connection.device!;
    const refused = device && firstAnswer(server.hooks.iq, device, iq);
    if (refused) throw refused;
    const given = handler.answer({ server, connection, device, iq, body });
    // What can be answered at once is answered in the order of asking.
    const content = given instanceof Promise ? await given : given;
    const attrs = { from: iq.attrs.to ?? SERVER_JID, type: "result", id: iq.attrs.id };
    connection.send(element("iq", attrs, content.length > 0 ? content : undefined));
  } catch (error) {
    const who = connection.device?.label ?? "unlinked";
    if (error instanceof MalformedIq) server.violations.report("malformed_iq", who, error.detail);
    if (!(error instanceof IqError)) {
      server.violations.report(
        "simulator_error",
        who,
        error instanceof Error ? (error.stack ?? "") : String(error),
      );
    }
    const { code, message } =
      error instanceof IqError ? error : { code: 500, message: "internal-server-error" };
    connection.send(refusal(iq, code, message));
  }
}

function refusal(iq: BinaryNode, code: number, text: string): BinaryNode {
  const attrs = { from: iq.attrs.to ?? SERVER_JID, type: "error", id: iq.attrs.id };
  return element("iq", attrs, [element("error", { code: String(code), text })]);
}
