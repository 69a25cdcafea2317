import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { bytes, child, children, element } from "../../wire/nodes.ts";
import type { BinaryNode } from "../../wire/nodes.ts";
import type { Device } from "../../world/accounts.ts";
import type { AppStates } from "../accounts/app-state.ts";
import { IqError, MalformedIq } from "../iq-error.ts";
import type { IqHandler } from "./handler.ts";

interface Needs {
  appStates: AppStates;
  behaviour: ServiceBehaviour;
}

/** Reading and writing app state (`w:sync:app:state`): every collection is answered by itself. */
export const createAppStateHandlers = (needs: Needs): IqHandler[] => [
  {
    xmlns: "w:sync:app:state",
    type: "set",
    child: "sync",
    answer({ device, body }) {
      const answers = children(body, "collection").map((asked) =>
        needs.behaviour.appState ? answerFor(needs, device, asked) : empty(needs, asked),
      );
      return [element("sync", {}, answers)];
    },
  },
];

/** As the simulator answered before it knew of app state. */
function empty({ appStates }: Needs, { attrs, content }: BinaryNode): BinaryNode {
  if (!appStates.isCollection(attrs.name ?? "")) throw new MalformedIq(`app state collection ${attrs.name}`);
  if (Array.isArray(content) && content.length > 0) throw new IqError(409, "conflict");
  return element("collection", { name: attrs.name, version: "0", has_more_patches: "false" });
}

function answerFor({ appStates }: Needs, device: Device, asked: BinaryNode): BinaryNode {
  const { name = "", version = "0", return_snapshot: wanted } = asked.attrs;
  if (!appStates.isCollection(name)) return refused(name, 400, "bad-request");
  if (appStates.trouble(device, name) === "refused") return refused(name, 500, "internal-server-error");
  const after = Number(version);
  const patch = bytes(child(asked, "patch") ?? child(child(asked, "patches"), "patch"));
  if (patch && appStates.write(device, name, after, patch))
    return element("collection", { name, version: String(after + 1), has_more_patches: "false" });
  const wantsSnapshot = !patch && (wanted === "true" || wanted === "1");
  const part = appStates.read(device, name, wantsSnapshot ? 0 : after, wantsSnapshot);
  const content = [
    ...(patch ? [element("error", { code: "409", text: "conflict" })] : []),
    ...(part.snapshot ? [element("snapshot", {}, part.snapshot)] : []),
    ...(part.patches.length > 0
      ? [
          element(
            "patches",
            {},
            part.patches.map((one) => element("patch", {}, one)),
          ),
        ]
      : []),
  ];
  const attrs = {
    name,
    type: patch ? "error" : undefined,
    version: String(part.version),
    has_more_patches: String(part.hasMore),
  };
  return element("collection", attrs, content.length > 0 ? content : undefined);
}

const refused = (name: string, code: number, text: string): BinaryNode =>
  element("collection", { name, type: "error" }, [element("error", { code: String(code), text })]);
