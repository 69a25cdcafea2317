import type { NewChats } from "../../messages/new-chats.ts";
import type { Reachout } from "../../messages/reachout.ts";
import type { MexQuery } from "./query.ts";

/** What an account may do. */
export const createAccountQueries = ({
  reachout,
  newChats,
}: {
  reachout: Pick<Reachout, "state">;
  newChats: Pick<NewChats, "state">;
}): Record<string, MexQuery> => ({
  // Is the account kept from writing to new people?
  "23983697327930364": {
    field: "xwa2_fetch_account_reachout_timelock",
    answer: ({ device }) => reachout.state(device.account),
  },
  // How many new chats may it begin?
  "24503548349331633": {
    field: "xwa2_message_capping_info",
    answer: ({ device }) => newChats.state(device.account),
  },
});
