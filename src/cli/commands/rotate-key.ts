import { command } from "../command.ts";
import { loadConfig, parseMasterKey, type Config } from "../../config.ts";
import { rotateMasterKey } from "../../store/sealed/rotate.ts";
import { say } from "../plainly.ts";

const SETTING = "PARLEY_NEW_MASTER_KEY";

/** Null: the key lies in `DATA_DIR`, and the next one will. */
function newKey(config: Config, env: NodeJS.ProcessEnv): Buffer | null {
  const text = env[SETTING]?.trim();
  if (config.masterKey === null) {
    if (text)
      throw new Error(
        `The master key is a file in ${config.dataDir}, and the new key will be created there: remove ${SETTING}. To change a key in PARLEY_MASTER_KEY, set both.`,
      );
    return null;
  }
  if (!text)
    throw new Error(
      `The master key is in PARLEY_MASTER_KEY: set ${SETTING} to the new one; create it with: openssl rand -base64 32`,
    );
  return parseMasterKey(text, SETTING);
}

/** `parley rotate-key`: seals everything anew; the gateway must be stopped. */
export default command({
  meta: { name: "rotate-key", description: "Change the master key; the gateway must be stopped" },
  async run() {
    const config = loadConfig(process.env);
    const { values, oldKeyFile } = await rotateMasterKey(config, newKey(config, process.env));
    say(`Sealed ${values} values with a new master key. API keys, links and numbers still work.`);
    if (oldKeyFile === null)
      say(`Now set PARLEY_MASTER_KEY to the value of ${SETTING}, and remove ${SETTING}.`);
    else say(`Save a copy of the new key, ${config.dataDir}/master-key, elsewhere.`);
    say(
      `Backups made before now open only with the old key${oldKeyFile === null ? "" : `, kept in ${oldKeyFile}`}: delete it together with the last of these backups.`,
    );
    return { values, old_key_file: oldKeyFile };
  },
});
