import { openTestChat } from "./open.ts";
import type { TestBots, TestChatOptions } from "./options.ts";
import type { TestChat } from "./types.ts";

/**
 * A chat with bots as the gateway runs them: the real path of a message on a real database in a temporary folder. Clock
 * and connection are the test's, and nothing reaches the network. To be closed: `await using`, or `close()`.
 *
 * @throws {TypeError} when a bot or an option is none; {GatewayError} when a bot refuses its config
 */
export async function createTestChat(bots: TestBots, options: TestChatOptions = {}): Promise<TestChat> {
  const { chat } = await openTestChat(bots, options, () => null);
  return chat;
}
