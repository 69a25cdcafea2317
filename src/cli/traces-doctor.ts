import { findTraces, writeAnew } from "../store/traces.ts";
import { good, note, REPAIR, type Examination } from "./finding.ts";

const MEGABYTE = 1024 * 1024;
const megabytes = (bytes: number): string => `${Math.ceil(bytes / MEGABYTE)} MB`;

/** What earlier versions wrote in the clear and a file too large for a start still has in unused places. */
export async function checkTraces({ client, file, repair, findings }: Examination): Promise<void> {
  const traces = await findTraces(client, file);
  if (traces === null) return;
  const { sealing, byItself, size, free, needed } = traces;
  const what = `unused places of ${file} (${megabytes(size)}) may hold webhook addresses and bot settings that an earlier version wrote in the clear`;
  const isRoom = free >= needed;
  const room = `needs ${megabytes(needed)} free, there are ${megabytes(free)}`;
  if (sealing)
    findings.push(note("traces", `${what}; they are still being sealed: start the gateway, and look again`));
  else if (repair && isRoom) {
    // A copy of the file would keep what is to go; a VACUUM that does not end changes nothing.
    await writeAnew(client);
    findings.push(good("traces", `repaired: ${file} was written anew; remove copies and backups of before`));
  } else if (!isRoom)
    findings.push(note("traces", `${what}; writing it anew ${room}: make room, then ${REPAIR}`));
  else if (byItself) findings.push(note("traces", `${what}; the next start writes it anew`));
  else
    findings.push(
      note(
        "traces",
        `${what}; it is too large to be written anew at a start. While the gateway is stopped, for about a minute for some gigabytes (${room}), ${REPAIR}`,
      ),
    );
}
