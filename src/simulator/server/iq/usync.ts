import { child, children, element, text } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Profiles } from "../../world/profiles.ts";
import type { World } from "../../world/world.ts";
import { MalformedIq } from "../iq-error.ts";
import { HOSTED_DEVICE, LID_SERVER, PN_SERVER, isLidJid, jidOf } from "../../world/jid.ts";
import type { Stamps } from "../ports.ts";
import { verifiedName } from "../messages/verified-name.ts";
import type { IqHandler, IqRequest } from "./handler.ts";
import { keyIndexList } from "../accounts/device-lists.ts";
import { listedDevices } from "../../world/accounts.ts";
import type { Account } from "../../world/accounts.ts";

interface Needs extends Pick<Stamps, "now"> {
  world: World;
  profiles: Profiles;
}

interface Question {
  needs: Needs;
  request: IqRequest;
  account: Account;
  /** The user's address as the asker wrote it. */
  jid: string;
  user: BinaryNode;
}

const placeOf = (id: number): number => (id === HOSTED_DEVICE ? 0.5 : id);

/** The protocols of usync: each adds its part to a user's answer, or nothing. */
const protocols: Record<string, (question: Question) => BinaryNode | undefined> = {
  devices: ({ needs, request, account }) => {
    if (request.device.account !== account) account.watchers.add(request.device.account.number);
    // Hosted devices before companions: no reference says that there is an order.
    const devices = listedDevices(account).sort((a, b) => placeOf(a.id) - placeOf(b.id));
    const list = devices.map(({ id, keyIndex }) =>
      element("device", {
        id: String(id),
        "key-index": id === 0 ? undefined : String(keyIndex || id),
        is_hosted: id === HOSTED_DEVICE ? "true" : undefined,
      }),
    );
    return element("devices", {}, [element("device-list", {}, list), keyIndexList(account, needs.now())]);
  },
  /** The user's other address. Someone who asks by LID already has it, and learns no number. */
  lid: ({ account, jid }) =>
    isLidJid(jid) || account.hidesNumber || account.reachableBy === "number"
      ? undefined
      : element("lid", { val: jidOf(account.lid, LID_SERVER) }),
  contact: ({ user }) => element("contact", { type: "in" }, text(child(user, "contact"))),
  status: ({ needs, account }) =>
    element("status", { t: needs.now() }, needs.profiles.known(account.number)?.status ?? ""),
  disappearing_mode: () => element("disappearing_mode", { duration: "0", t: "0" }),
  username: ({ account }) =>
    account.username === undefined ? undefined : element("username", {}, account.username),
  business({ needs, account }) {
    const business = needs.profiles.known(account.number)?.business;
    return business && element("business", {}, [verifiedName(business.name)]);
  },
  picture({ needs, account }) {
    const picture = needs.profiles.known(account.number)?.picture;
    return picture && element("picture", { id: picture.id });
  },
};

/** Who is a user, with which devices and which other address (`usync`). */
export const createUsyncHandlers = (needs: Needs): IqHandler[] => [
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
      const users = children(child(body, "list"), "user").flatMap((user) =>
        answerFor(needs, request, user, asked),
      );
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

function answerFor(needs: Needs, request: IqRequest, user: BinaryNode, asked: string[]): BinaryNode[] {
  const phone = text(child(user, "contact"))?.replace(/\D/g, "");
  const { world } = needs;
  const account = user.attrs.jid ? world.find(user.attrs.jid) : world.findByPhone(phone ?? "");
  // Whoever has another LID by now is not there under the old one.
  if (world.isFormerLid(user.attrs.jid)) return [];
  if (!account) {
    // A number that nobody has is reported as such; an unknown address is left out of the answer.
    if (!phone) return [];
    const contact = element("contact", { type: "out" }, text(child(user, "contact")));
    return [element("user", { jid: jidOf(phone, PN_SERVER) }, [contact])];
  }
  const jid = user.attrs.jid ?? jidOf(account.number, PN_SERVER);
  const parts = asked.map((tag) => protocols[tag]!({ needs, request, account, jid, user }));
  return [
    element(
      "user",
      { jid },
      parts.filter((part) => part !== undefined),
    ),
  ];
}
