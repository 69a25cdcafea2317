/**
 * Long drills: `npm test` leaves them out to stay under ten minutes, and the gate runs them (`npm run test:all`). A file that is
 * named on the command line always runs. What belongs here takes long and breaks seldom; the everyday forms of the same promises
 * stay in `npm test`.
 */
const DRILLS = [
  "api/process",
  "attack/attacks",
  "bots/crash",
  "cli/{bots,built}",
  "cluster/{deploy,life,move-database,requests,webhooks}",
  "contracts/{move-database,server}",
  "crash/{points,mutations,production,soak,overload}",
  "demo/{demo,playground}",
  "deploy/guide-commands",
  "e2e/{closed-numbers,groups-at-size,mcp-protocol,rotate-key,scheduled-backups,year}",
  "faults/{clock,database,disk-full,errors,rolled-back,sole-use}",
  "gate/gate",
  "properties/lanes",
  "simulator/capacity",
  "testing/{crash,package}",
  "unit/backup/scheduled",
  "unit/cluster/quotas",
  "unit/media/{decoders,hostile}",
  "unit/whatsapp/{key-parts,private-keys}",
  "whatsapp/backlog",
];

const isEverything =
  process.env["PARLEY_TEST_ALL"] === "1" ||
  process.env["PARLEY_TEST_LONG"] === "1" ||
  process.argv.some((argument) => argument.startsWith("test/"));

/** Patterns of the files that this run leaves out. */
export const LEFT_OUT: readonly string[] = isEverything ? [] : DRILLS.map((name) => `test/${name}.test.ts`);
