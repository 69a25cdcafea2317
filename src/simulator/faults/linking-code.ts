import { children, element } from "../wire/nodes.ts";
import { Armed } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Companions that ask for linking by code are refused. */
export function linkingCode({
  hooks,
  world,
}: Pick<FaultNeeds, "hooks" | "world">): FaultKit<"refuseLinkingCode"> {
  const armed = new Armed();
  return {
    methods: {
      async refuseLinkingCode({ number, code = 400, times = 1 }) {
        let left = times;
        const account = world.account(number);
        const disarm = armed.arm(hooks.received, (connection, { tag, attrs, content }) => {
          const [body] = children({ tag, attrs, content });
          if (tag !== "iq" || body?.attrs.stage !== "companion_hello") return false;
          if (world.find(body.attrs.jid) !== account) return false;
          if ((left -= 1) === 0) disarm();
          const error = element("error", { code: String(code), text: "bad-request" });
          connection.send(element("iq", { from: attrs.to, type: "error", id: attrs.id }, [error]));
          return true;
        });
      },
    },
    clear: () => armed.clear(),
  };
}
