import { findTraces, writeAnew } from "../../store/traces.ts";
import { good, note, REPAIR, type Examination } from "./finding.ts";

const MEGABYTE = 1024 * 1024;
const megabytes = (bytes: number): string => `${Math.ceil(bytes / MEGABYTE)} MB`;

/** What earlier versions wrote in the clear and a file too large for a start still has in unused places. */
export async function checkTraces({ client, file, repair, findings }: Examination): Promise<void> {
  const traces = await findTraces(client, file);
  if (traces === null) return;
  const { sealing, byItself, size, free, needed } = traces;
  const what = `unused space of ${file} (${megabytes(size)}) may hold webhook addresses and bot settings that an earlier version wrote unencrypted`;
  const isRoom = free >= needed;
  const room = `needs ${megabytes(needed)} free, there are ${megabytes(free)}`;
  if (sealing)
    findings.push(
      note("traces", `${what}; the gateway has not sealed all of them yet: start it, and check again later`),
    );
  else if (repair && isRoom) {
    // A copy of the file would keep what is to go; a VACUUM that does not end changes nothing.
    await writeAnew(client);
    findings.push(good("traces", `repaired: ${file} was rewritten; remove earlier copies and backups`));
  } else if (!isRoom)
    findings.push(note("traces", `${what}; rewriting the file ${room}: free some space, then ${REPAIR}`));
  else if (byItself) findings.push(note("traces", `${what}; the next start rewrites the file`));
  else
    findings.push(
      note(
        "traces",
        `${what}; the file is too large to be rewritten at a start. While the gateway is stopped (about a minute for some gigabytes; ${room}), ${REPAIR}`,
      ),
    );
}
