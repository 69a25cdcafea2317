/** What a session is sealed for. */
export const sessionContext = (deviceId: number, botId: string, scope: string): string =>
  `bot_session:${deviceId}:${botId}:${scope}`;

/** What a dialogue's state is sealed for. */
export const dialogueContext = (deviceId: number, scope: string): string =>
  `bot_dialogue:${deviceId}:${scope}`;

/** What the body of a timer is sealed for. */
export const timerContext = (deviceId: number, botId: string, scope: string, key: string): string =>
  `bot_timer:${deviceId}:${botId}:${scope}:${key}`;

/** What is kept in a bot's own store is sealed for its key. */
export const storeContext = (deviceId: number, botId: string, key: string): string =>
  `bot_store:${deviceId}:${botId}:${key}`;

/** What a kept step is sealed for. */
export const stepContext = (inboxId: number, botId: string, key: string): string =>
  `bot_step:${inboxId}:${botId}:${key}`;
