import { child, children, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Account } from "../../world.ts";
import { listedDevices } from "../device-lists.ts";
import { MalformedIq } from "../iq-error.ts";
import { LID_SERVER, PN_SERVER, isLidJid, jidOf } from "../jid.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

interface Question {
  request: IqRequest;
  account: Account;
  /** The user's address as the asker wrote it. */
  jid: string;
  user: BinaryNode;
}

/** The protocols of usync: each adds its part to a user's answer, or nothing. */
const protocols: Record<string, (question: Question) => BinaryNode | undefined> = {
  devices: ({ request, account }) => {
    if (request.device.account !== account) account.watchers.add(request.device.account.number);
    const list = listedDevices(account).map(({ id, keyIndex }) =>
      element("device", { id: String(id), "key-index": id === 0 ? undefined : String(keyIndex || id) }),
    );
    return element("devices", {}, [
      element("device-list", {}, list),
      element("key-index-list", { ts: request.server.now() }),
    ]);
  },
  /** The other address of the user. Who asks by LID already has it, and learns no number. */
  lid: ({ account, jid }) =>
    isLidJid(jid) || account.hidesNumber
      ? undefined
      : element("lid", { val: jidOf(account.lid, LID_SERVER) }),
  contact: ({ user }) => element("contact", { type: "in" }, text(child(user, "contact"))),
  status: ({ request }) => element("status", { t: request.server.now() }, ""),
  disappearing_mode: () => element("disappearing_mode", { duration: "0", t: "0" }),
  username: () => undefined,
  business: () => undefined,
  picture: () => undefined,
};

/** Who is a user, with which devices and which other address. */
export const usyncHandlers: IqHandler[] = [
  {
    xmlns: "usync",
    type: "get",
    child: "usync",
    answer(request) {
      const { body } = request;
      const asked = children(child(body, "query")).map(({ tag }) => tag);
      if (!body.attrs.sid || asked.length === 0) throw new MalformedIq("usync without sid or query");
      const unknown = asked.filter((tag) => !protocols[tag]);
      if (unknown.length > 0) throw new MalformedIq(`usync protocol ${unknown.join(", ")}`);
      const users = children(child(body, "list"), "user").flatMap((user) => answerFor(request, user, asked));
      const { attrs } = body;
      const result = element(
        "result",
        {},
        asked.map((tag) => element(tag)),
      );
      return [
        element(
          "usync",
          { sid: attrs.sid, index: "0", last: "true", mode: attrs.mode, context: attrs.context },
          [result, element("list", {}, users)],
        ),
      ];
    },
  },
];

function answerFor(request: IqRequest, user: BinaryNode, asked: string[]): BinaryNode[] {
  const phone = text(child(user, "contact"))?.replace(/\D/g, "");
  const { world } = request.server;
  const account = user.attrs.jid ? world.find(user.attrs.jid) : world.findByPhone(phone ?? "");
  if (!account) {
    // A number that is nobody's is said so; for an address that is nobody's there is no answer.
    if (!phone) return [];
    const contact = element("contact", { type: "out" }, text(child(user, "contact")));
    return [element("user", { jid: jidOf(phone, PN_SERVER) }, [contact])];
  }
  const jid = user.attrs.jid ?? jidOf(account.number, PN_SERVER);
  const parts = asked.map((tag) => protocols[tag]!({ request, account, jid, user }));
  return [
    element(
      "user",
      { jid },
      parts.filter((part) => part !== undefined),
    ),
  ];
}
