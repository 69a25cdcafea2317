/**
 * In a test build `EVERYDAY_MIX` (a seed) lets a draw decide of each message and each receipt, in and out, whether it may take
 * the everyday way or goes Baileys' way in any case: both then meet in every chat. In a production build `__FAILPOINTS__` is
 * the constant false and nothing of this is there.
 */
// oxlint-disable-next-line no-underscore-dangle -- what a build replaces should look like nothing else
declare const __FAILPOINTS__: boolean;

let seed: string | undefined;
let state = 0;

/** Whether the next message goes Baileys' way whatever it is. Always false in a production build, and without `EVERYDAY_MIX`. */
export function isForBaileys(): boolean {
  if (typeof __FAILPOINTS__ === "undefined" || !__FAILPOINTS__) return false;
  const wanted = process.env["EVERYDAY_MIX"];
  if (!wanted) return false;
  if (wanted !== seed) [seed, state] = [wanted, numberOf(wanted)];
  // A linear congruence (Numerical Recipes): what is drawn here is no secret.
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state > 2 ** 31;
}

/** FNV-1a. */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
