import type { Inbox, RecordedMessage } from "../../src/inbox/inbox.ts";
import type { Incoming } from "../../src/model/messages.ts";
import type { Statement } from "../../src/model/statement.ts";
import { commitIntake, joinIntakes, NO_INTAKE } from "../../src/store/write/intake.ts";
import type { Store } from "../../src/store/store.ts";

/**
 * Stores messages in a commit of their own.
 *
 * @param beside statements of the same commit
 * @returns those that the inbox did not have
 */
export async function record(
  { writer }: Pick<Store, "writer">,
  inbox: Pick<Inbox, "intake">,
  deviceId: number,
  messages: Incoming[],
  beside: Statement[] = [],
): Promise<RecordedMessage[]> {
  let recorded: RecordedMessage[] = [];
  const intake = inbox.intake(deviceId, messages, (fresh) => (recorded = fresh));
  await commitIntake(writer, joinIntakes(intake, { ...NO_INTAKE, statements: beside }));
  return recorded;
}
